import type { HostPathQuestion, HostPathVerdict } from "./host-path";
import type { Mount } from "./mounts";
import { fillPattern, isPattern, matchSegments, segmentsOf } from "./path-pattern";

type Paths = Pick<HostPathQuestion, "csiSocketPath" | "kubeletRegistrationPath">;

/** What a pattern is where a folder that fits its beginning is mounted. */
export interface MountedMatch extends Paths {
  /** A verdict on this match in the words of the pattern. */
  inPattern(verdict: HostPathVerdict): HostPathVerdict;
}

/** The mounts that fit a pattern as far as one of its stars, as where a container has each driver's folder by itself. */
export function mountedMatches(
  { csiSocketPath: pattern, kubeletRegistrationPath: told }: Paths,
  mounts: readonly Mount[],
): readonly MountedMatch[] {
  const segments = segmentsOf(pattern);
  const stars = segments.filter(isPattern).length;
  const toldSegments = segmentsOf(told);
  if (toldSegments.filter(isPattern).length !== stars) return [];
  return mounts.flatMap(({ mountPoint }) => {
    const captures = matchSegments(segments, segmentsOf(mountPoint)) ?? [];
    if (captures.length === 0) return [];
    const filled = [...captures, ...Array<string>(stars - captures.length).fill("*")];
    const csiSocketPath = fillPattern({ segments }, filled);
    const kubeletRegistrationPath = fillPattern({ segments: toldSegments }, filled);
    const inPattern = (path: string) => backToPattern(path, csiSocketPath, segments);
    return [
      { csiSocketPath, kubeletRegistrationPath, inPattern: (verdict) => withPaths(verdict, inPattern) },
    ];
  });
}

/** The path with stars again, from its end as far as it is called as the match. */
function backToPattern(path: string, match: string, segments: readonly string[]): string {
  const [names, ofMatch] = [path.split("/"), segmentsOf(match)];
  for (let back = 1; back <= segments.length && names.at(-back) === ofMatch.at(-back); back++)
    names[names.length - back] = segments.at(-back) ?? "";
  return names.join("/");
}

function withPaths(verdict: HostPathVerdict, change: (path: string) => string): HostPathVerdict {
  switch (verdict.kind) {
    case "differs":
      return { ...verdict, hostPath: change(verdict.hostPath) };
    case "ends-alike":
      return { ...verdict, path: change(verdict.path) };
    case "differs-on-disk": {
      const { inKubeletRoot } = verdict;
      return {
        ...verdict,
        path: change(verdict.path),
        inKubeletRoot: inKubeletRoot && change(inKubeletRoot),
      };
    }
    default:
      return verdict;
  }
}
