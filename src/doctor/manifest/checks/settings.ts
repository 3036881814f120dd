import { isPattern } from "../../../host-path/path-pattern";
import { type Check, problem, unknown, unread, warning } from "../../findings/finding";
import { APPLY_CSI_DRIVER } from "../../rules/words";
import type { ManifestFacts } from "../deployment";

/** The least limit under which Node starts when its pages are not in the page cache. */
const LEAST_BYTES = 64 * 2 ** 20;

export const manifestMemory: Check<ManifestFacts> = {
  code: "CSI105",
  name: "manifest-memory",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, memoryLimit, isOfficial }) => {
      if (memoryLimit === undefined || isOfficial || memoryLimit.bytes >= LEAST_BYTES) return undefined;
      const text = `has a memory limit of ${memoryLimit.text}: it may never get ready after a reboot`;
      return problem(place, text, "set it to 100Mi, 64Mi at least");
    }),
};

export const manifestPreStop: Check<ManifestFacts> = {
  code: "CSI106",
  name: "manifest-pre-stop",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, preStop }) =>
      preStop?.some((word) => /\brm\b/.test(word))
        ? warning(place, `has a preStop hook that removes files: ${preStop.join(" ")}`, "delete the hook")
        : undefined,
    ),
};

export const manifestSurge: Check<ManifestFacts> = {
  code: "CSI107",
  name: "manifest-surge",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, maxSurge, hasDriver }) =>
      maxSurge !== undefined && hasDriver && !/^0%?$/.test(String(maxSurge))
        ? problem(place, `updates with maxSurge ${maxSurge}, and has a driver in its pods`, "set maxSurge: 0")
        : undefined,
    ),
};

export const manifestUser: Check<ManifestFacts> = {
  code: "CSI108",
  name: "manifest-user",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, runAsUser, runAsNonRoot }) => {
      const isOther = (runAsUser ?? 0) !== 0;
      if (runAsNonRoot === undefined && !isOther) return undefined;
      const what = runAsNonRoot === undefined ? `runAsUser ${runAsUser}` : "runAsNonRoot";
      const fixes = [
        ...(runAsNonRoot === "pod" ? ["set runAsNonRoot: false in the container"] : []),
        ...(runAsNonRoot === "container" ? ["take runAsNonRoot off"] : []),
        ...(isOther ? ["set runAsUser: 0"] : []),
      ];
      return problem(place, `does not run as root: ${what}`, fixes.join(", and "));
    }),
};

export const manifestOperatingSystem: Check<ManifestFacts> = {
  code: "CSI112",
  name: "manifest-operating-system",
  verdicts: ({ forWindows }) =>
    forWindows
      .filter(({ isOfficial }) => !isOfficial)
      .map(({ place }) =>
        problem(
          place,
          "is for Windows nodes, and this registrar runs on Linux only",
          "use the official registrar's image there",
        ),
      ),
};

export const manifestCsiDriver: Check<ManifestFacts> = {
  code: "CSI111",
  name: "manifest-csi-driver",
  verdicts: ({ deployments, csiDrivers }) =>
    csiDrivers.length > 0
      ? []
      : deployments
          .filter(({ hasDriver, settings }) => hasDriver && !isPattern(settings.kubeletRegistrationPath))
          .map(({ place }) =>
            unknown(
              place,
              "has no CSIDriver object beside it: it may be applied by itself",
              APPLY_CSI_DRIVER,
            ),
          ),
};

export const manifestReadable: Check<ManifestFacts> = {
  code: "CSI113",
  name: "manifest-readable",
  verdicts: (facts) =>
    facts.unread.map(({ place, why }) =>
      unread(place, `cannot be judged: ${why}`, "correct it, or leave it out"),
    ),
};
