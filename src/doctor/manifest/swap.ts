import { type Finding, findingsOf } from "../findings/finding";
import { MANIFEST_CHECKS } from "./checks";
import type { OurImage } from "./program";
import type { ManifestFacts } from "./read-deployments";

/** Files as they are, and as if our image were in the place of the official one. */
export interface Swap {
  readonly before: ManifestFacts;
  readonly after: ManifestFacts;
}

/** Reads the same objects twice. A container for Windows counts as swapped where it shares its image with one for Linux. */
export function readSwap(read: (ours: OurImage) => ManifestFacts, ours: OurImage): Swap {
  const before = read(ours);
  const officials = before.deployments.filter(
    ({ program, isForWindows }) => program.kind === "official" && !isForWindows,
  );
  const swapped = new Set(officials.map(({ image }) => image));
  return { before, after: read({ ...ours, swapped }) };
}

/** What is to be said of the swap only. Containers of which nobody knows whether it concerns them are not kept quiet. */
export function findingsOfSwap({ before, after }: Swap): readonly Finding[] {
  const keyOf = ({ code, subject, text }: Finding) => JSON.stringify([code, subject, text]);
  const known = new Set(findingsOf(MANIFEST_CHECKS, before).map(keyOf));
  const notJudged = new Set(
    after.deployments.filter(({ program }) => program.kind === "unknown").map(({ place }) => place),
  );
  return findingsOf(MANIFEST_CHECKS, after).filter(
    (finding) =>
      finding.isUnread ||
      (finding.code === "CSI101" && finding.status === "unknown" && notJudged.has(finding.subject)) ||
      (finding.status !== "ok" && !known.has(keyOf(finding))),
  );
}
