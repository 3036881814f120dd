import { invalidOption } from "../base/errors";
import { quoteText } from "../logging/escape";
import { socketPathKind } from "../options/option-kinds";
import { parseCsiAddress } from "../unix/socket-path";

/** A path in which a `*` stands for part of a segment; at most one in each segment. */
export interface PathPattern {
  readonly text: string;
  readonly segments: readonly string[];
  readonly stars: number;
}

export const isPattern = (path: string): boolean => path.includes("*");

export const segmentsOf = (path: string): readonly string[] => path.split("/").slice(1);

/** Reads a pattern. Throws INVALID_OPTION where it is not absolute, or a segment has more than one `*`. */
export function parsePattern(text: string, option: string): PathPattern {
  const refuse = (why: string) => invalidOption(`${option} ${quoteText(text)}: ${why}`);
  if (!text.startsWith("/")) throw refuse("a pattern must be an absolute path");
  const segments = segmentsOf(text);
  if (segments.some((segment) => segment === "" || segment === "." || segment === ".."))
    throw refuse("a pattern must have no empty, '.' or '..' segment");
  if (segments.some((segment) => segment.split("*").length > 2))
    throw refuse("a segment can have one '*' only, or what it stands for would be a guess");
  return { text, segments, stars: segments.filter(isPattern).length };
}

/** What a segment's `*` stands for in a name, `""` for a segment without one; undefined if the name does not fit. */
export function matchSegment(segment: string, name: string): string | undefined {
  const [head = "", tail] = segment.split("*");
  if (tail === undefined) return name === segment ? "" : undefined;
  const fits = name.length > head.length + tail.length && name.startsWith(head) && name.endsWith(tail);
  // As in a shell, `*` does not stand for a leading dot.
  if (!fits || (name.startsWith(".") && head === "")) return undefined;
  return name.slice(head.length, name.length - tail.length);
}

/** What the stars of the first segments stand for, one segment for each name; undefined if a name does not fit. */
export function matchSegments(
  segments: readonly string[],
  names: readonly string[],
): readonly string[] | undefined {
  const captures = names.map((name, index) => matchSegment(segments[index] ?? "", name));
  if (captures.includes(undefined)) return undefined;
  return captures.flatMap((capture, index) => (isPattern(segments[index] ?? "") ? [capture ?? ""] : []));
}

/** What a pattern's stars stand for in a path; undefined if the path does not fit. */
export function matchPattern({ segments }: PathPattern, path: string): readonly string[] | undefined {
  const names = segmentsOf(path);
  return names.length === segments.length ? matchSegments(segments, names) : undefined;
}

/** The path that results when the first stars stand for `captures`, in their order. */
export function fillPattern({ text }: Pick<PathPattern, "text">, captures: readonly string[]): string {
  let next = 0;
  return text.replace(/\*/g, (star) => captures[next++] ?? star);
}

/** Whether a path of the container may have a mount of its own below its first star. */
export const leadsThrough = (path: string, mountPoints: readonly string[]): boolean =>
  mountPoints.some((mountPoint) => matchSegments(segmentsOf(path), segmentsOf(mountPoint))?.length);

export interface PatternPair {
  readonly csiAddress: PathPattern;
  readonly endpoint: PathPattern;
}

/**
 * Pairs driver socket patterns with host patterns, in order. Throws INVALID_OPTION, with these names of the lists, if the
 * counts, or a pair's stars, differ.
 */
export function pairPatterns(
  csiAddresses: readonly string[],
  endpoints: readonly string[],
  names = { csiAddresses: "csiAddresses", endpoints: "endpoints" },
): readonly PatternPair[] {
  const [addresses, paths] = [csiAddresses.length, endpoints.length];
  if (addresses !== paths)
    throw invalidOption(
      `${addresses} ${names.csiAddresses} but ${paths} ${names.endpoints}: each needs its own`,
    );
  if (addresses === 0)
    throw invalidOption(`${names.csiAddresses} is an empty list: give a path or a pattern`);
  return csiAddresses.map((address, index) => {
    const path = endpoints[index] ?? "";
    const csiAddress = parsePattern(parseCsiAddress(address, names.csiAddresses), names.csiAddresses);
    socketPathKind.read(csiAddress.text, names.csiAddresses);
    const endpoint = parsePattern(parseCsiAddress(path, names.endpoints), names.endpoints);
    if (csiAddress.stars === endpoint.stars) return { csiAddress, endpoint };
    const counts = `${csiAddress.stars} '*' in ${address}, ${endpoint.stars} in ${path}`;
    throw invalidOption(`${counts}: each '*' must stand for the same in both`);
  });
}
