import { isNamed, type OurImage } from "../../../recognise/program";
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
export function readSwap(
  read: (ours: OurImage) => ManifestFacts,
  { image: replaced, ...ours }: OurImage,
  to = "",
) {
  const known = { ...ours, replaced, image: to || undefined };
  const before = read(known);
  const taken = before.registrars.filter(
    ({ isForWindows, program, image, hasOfficialName }) =>
      !isForWindows && program.kind !== "ours" && (hasOfficialName || isNamed(image, replaced)),
  );
  const after = read({ ...known, swapped: new Set(taken.map((one) => one.image)) });
  return { before, after, swapped: taken.length };
}

/**
 * What the swap brings: its findings, and with them those of containers with an unknown program, which it may concern; and how
 * many problems are there before the swap and after it, as a report counts them.
 */
export function judgeSwap({ before, after, swapped }: ReturnType<typeof readSwap>) {
  const [had, has] = [findingsOf(MANIFEST_CHECKS, before), findingsOf(MANIFEST_CHECKS, after)];
  const [known, stay] = [new Set(had.map(keyOf)), new Set(has.map(keyOf))];
  const notJudged = new Set(
    after.registrars.filter(({ program }) => program.kind === "unknown").map(({ place }) => place),
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
  return { findings, problemsWithEither: swapped === 0 ? 0 : both.length };
}

export function eitherLines(count: number, command: string): readonly string[] {
  const are = count === 1 ? "is" : "are";
  return count === 0 ? [] : [`${counted(count, "problem")} ${are} there with either image: ${command}`];
}
