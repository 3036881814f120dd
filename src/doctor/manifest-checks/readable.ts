import type { ManifestFacts } from "../deployment";
import { type Check, unread } from "../finding";

export const manifestReadable: Check<ManifestFacts> = {
  code: "CSI113",
  name: "manifest-readable",
  asks: "Whether everything could be read and judged: each file, each document in it, each object.",
  matters:
    "What was not judged may have any mistake. The limits are those of the API server and of Linux: 16 MiB in a file, 2 MiB in " +
    "a document, 10,000 values in a pod, and arguments that a program can be started with.",
  fix: "Correct what the finding names, or give the file of the driver alone.",
  verdicts: (facts) =>
    facts.unread.map(({ place, why }) =>
      unread(place, `cannot be judged: ${why}`, "correct it, or leave it out"),
    ),
};
