import { imagePattern } from "../../../manifest/image-policy/recognise";
import { type Finding, findingsOf, keyOf } from "../../findings/finding";
import { reportFindings } from "../../findings/report";
import { counted } from "../../findings/words";
import type { ManifestFacts } from "../read/deployments";
import { lastPart, type OurImage } from "../read/program";
import { manifestArguments } from "./arguments";
import { MANIFEST_CHECKS } from "./checks";

/**
 * Reads the same objects twice. Like the image policy, it swaps each image that has the official one's name, or that of `image`.
 * A container for Windows counts as swapped where it shares its image with one for Linux.
 */
export function readSwap(
  read: (ours: OurImage) => ManifestFacts,
  { image = "", ...ours }: OurImage,
  to = "",
) {
  const matched = new RegExp(imagePattern(image === "" ? [] : [lastPart(image)]));
  const known = { ...ours, matched, image: to || undefined };
  const before = read(known);
  const taken = before.deployments.filter(
    (one) =>
      !one.isForWindows &&
      (one.program.kind === "official" || (one.program.kind === "unknown" && matched.test(one.image))),
  );
  const after = read({ ...known, swapped: new Set(taken.map((one) => one.image)) });
  return { before, after, swapped: taken.length };
}

/** How many problems are there before the swap and after it, as a report counts them. */
export function problemsWithEither(
  { before, after }: Pick<ReturnType<typeof readSwap>, "before" | "after">,
  checks = MANIFEST_CHECKS,
): number {
  const stay = new Set(findingsOf(checks, after).map(keyOf));
  const { findings } = reportFindings(findingsOf(checks, before));
  return findings.filter((one) => one.status === "problem" && one.follows === null && stay.has(keyOf(one)))
    .length;
}

export function eitherLines(count: number, command: string): readonly string[] {
  const are = count === 1 ? "is" : "are";
  return count === 0 ? [] : [`${counted(count, "problem")} ${are} there with either image: ${command}`];
}

/** The findings that the swap brings. Those of containers with an unknown program stay: it may concern them. */
export function findingsOfSwap(
  { before, after }: Pick<ReturnType<typeof readSwap>, "before" | "after">,
  checks = MANIFEST_CHECKS,
): readonly Finding[] {
  const known = new Set(findingsOf(checks, before).map(keyOf));
  const notJudged = new Set(
    after.deployments.filter(({ program }) => program.kind === "unknown").map(({ place }) => place),
  );
  return findingsOf(checks, after).filter(
    (finding) =>
      finding.isUnread ||
      (finding.code === manifestArguments.code && notJudged.has(finding.subject)) ||
      (finding.status !== "ok" && !known.has(keyOf(finding))),
  );
}
