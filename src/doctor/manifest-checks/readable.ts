import type { ManifestFacts } from "../deployment";
import { type Check, unread } from "../finding";

export const manifestReadable: Check<ManifestFacts> = {
  code: "CSI113",
  name: "manifest-readable",
  verdicts: (facts) =>
    facts.unread.map(({ place, why }) =>
      unread(place, `cannot be judged: ${why}`, "correct it, or leave it out"),
    ),
};
