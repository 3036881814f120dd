import type { ManifestFacts } from "../deployment";
import { type Check, problem } from "../finding";

/** The least limit under which Node starts when its pages are not in the page cache. */
const LEAST_BYTES = 64 * 2 ** 20;

export const manifestMemory: Check<ManifestFacts> = {
  code: "CSI105",
  name: "manifest-memory",
  asks: "Whether this registrar's container may use the memory that it needs; the official one needs less.",
  matters:
    "After a reboot Node's pages count against the limit. Under 64Mi the container may never get ready, and nothing is killed or logged.",
  fix: "Request 32Mi and limit to 100Mi.",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, memoryLimit, isOfficial }) => {
      if (memoryLimit === undefined || isOfficial || memoryLimit.bytes >= LEAST_BYTES) return undefined;
      const text = `has a memory limit of ${memoryLimit.text}: it may never get ready after a reboot`;
      return problem(place, text, "set it to 100Mi, 64Mi at least");
    }),
};
