import type { OurImage } from "../../../recognise/program";
import { findingsOf, keyOf } from "../../findings/finding";
import { reportFindings } from "../../findings/report";
import { counted } from "../../findings/words";
import type { ManifestFacts } from "../read/registrars";
import { manifestArguments } from "./arguments";
import { MANIFEST_CHECKS } from "./checks";

/**
 * Reads the same objects twice. Like the image policy, it swaps each image that has the official one's name, and it swaps
 * `image`. A container for Windows counts as swapped where it shares its image with one for Linux.
 */
export function readSwap<Facts extends ManifestFacts>(
  read: (ours: OurImage) => Facts,
  { image: replaced, ...ours }: OurImage,
  to = "",
) {
  const known = { ...ours, replaced, image: to || undefined };
  const before = read(known);
  const swapped = before.registrars.filter(({ isSwappable }) => isSwappable);
  const after = read({ ...known, swapped: new Set(swapped.each(({ image }) => image)) });
  return { before, after, swapped };
}

/**
 * What the swap brings: its findings, and with them those of containers with an unknown program, which it may concern; how many
 * containers it swaps; and how many problems are there before the swap and after it, as a report counts them. Null: unknown.
 */
export function judgeSwap({ before, after, swapped }: ReturnType<typeof readSwap>) {
  const [had, has] = [findingsOf(MANIFEST_CHECKS, before), findingsOf(MANIFEST_CHECKS, after)];
  const [known, stay] = [new Set(had.map(keyOf)), new Set(has.map(keyOf))];
  const notJudged = new Set(
    after.registrars.each(({ program, place }) => (program.kind === "unknown" ? place : undefined)),
  );
  const findings = has.filter(
    (finding) =>
      finding.isUnread ||
      (finding.code === manifestArguments.code && notJudged.has(finding.subject)) ||
      (finding.status !== "ok" && !known.has(keyOf(finding))),
  );
  const both = reportFindings(had).findings.filter(
    (one, at) => one.status === "problem" && one.follows === null && had[at] && stay.has(keyOf(had[at])),
  );
  const all = swapped.all();
  if (all.kind === "unread") return { findings, swapped: null, problemsWithEither: null };
  const { length } = all.value;
  return { findings, swapped: length, problemsWithEither: length === 0 ? 0 : both.length };
}

export function eitherLines(count: number | null, command: string): readonly string[] {
  const are = count === 1 ? "is" : "are";
  return count === null || count === 0
    ? []
    : [`${counted(count, "problem")} ${are} there with either image: ${command}`];
}
