import { type Finding, findingsOf, keyOf } from "../findings/finding";
import { MANIFEST_CHECKS } from "./checks";
import { manifestArguments } from "./checks/arguments";
import type { OurImage } from "./program";
import type { ManifestFacts } from "./read-deployments";

/** Files as they are, and as if our image were in the place of the official one. */
export interface Swap {
  readonly before: ManifestFacts;
  readonly after: ManifestFacts;
  /** How many containers for Linux have the official image. */
  readonly swapped: number;
}

/** Reads the same objects twice. A container for Windows counts as swapped where it shares its image with one for Linux. */
export function readSwap(read: (ours: OurImage) => ManifestFacts, ours: OurImage): Swap {
  const before = read(ours);
  const officials = before.deployments.filter(
    ({ program, isForWindows }) => program.kind === "official" && !isForWindows,
  );
  const images = new Set(officials.map(({ image }) => image));
  return { before, after: read({ ...ours, swapped: images }), swapped: officials.length };
}

/** The findings that the swap brings. Those of containers with an unknown program stay: it may concern them. */
export function findingsOfSwap({ before, after }: Swap, checks = MANIFEST_CHECKS): readonly Finding[] {
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
