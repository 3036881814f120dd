import { check, unread } from "../../findings/finding";
import type { ManifestFacts } from "../read-deployments";
import { eachDeployment, problem, warning } from "./each-deployment";

/** The least limit with which Node starts when its pages are not in the page cache. */
const LEAST_BYTES = 64 * 2 ** 20;

export const manifestMemory = eachDeployment("CSI105", "manifest-memory", ({ memoryLimit, program }) =>
  program.kind !== "ours" || (bytesOf(memoryLimit) ?? LEAST_BYTES) >= LEAST_BYTES
    ? undefined
    : problem(
        `has a memory limit of ${memoryLimit}: it may never get ready after a reboot`,
        "set it to 100Mi, 64Mi at least",
      ),
);

/** A Kubernetes quantity in bytes; undefined if it is invalid. */
function bytesOf(quantity: string): number | undefined {
  const [, digits, unit = ""] = /^([\d.]+)([EPTGMK]i?|k|m)?$/.exec(quantity) ?? [];
  if (digits === undefined) return undefined;
  if (unit === "m") return Number(digits) / 1000;
  const power = " KMGTPE".indexOf(unit.charAt(0).toUpperCase() || " ");
  return Number(digits) * (unit.endsWith("i") ? 1024 : 1000) ** power;
}

export const manifestPreStop = eachDeployment("CSI106", "manifest-pre-stop", ({ preStop, program, pod }) => [
  ...(program.kind !== "unknown" && preStop.some((word) => /\brm\b/.test(word))
    ? [warning(`has a preStop hook that removes files: ${preStop.join(" ")}`, "delete the hook")]
    : []),
  ...pod.removers.map(({ container, command }) =>
    warning(
      `is beside container ${container}, whose preStop hook removes registration sockets: ${command}`,
      "leave them out of the hook: the registrar removes its own",
    ),
  ),
]);

export const manifestSurge = eachDeployment("CSI107", "manifest-surge", ({ maxSurge, hasDriver }) =>
  hasDriver && !/^(?:0%?)?$/.test(maxSurge)
    ? problem(`updates with maxSurge ${maxSurge}, and has a driver in its pods`, "set maxSurge: 0")
    : undefined,
);

const NON_ROOT_FIXES = {
  pod: "set runAsNonRoot: false in the container",
  container: "take runAsNonRoot off",
};

export const manifestUser = eachDeployment("CSI108", "manifest-user", ({ runAsUser = 0, runAsNonRoot }) => {
  const isOther = runAsUser !== 0;
  if (runAsNonRoot === undefined && !isOther) return undefined;
  const what = runAsNonRoot === undefined ? `runAsUser ${runAsUser}` : "runAsNonRoot";
  const fixes = [runAsNonRoot && NON_ROOT_FIXES[runAsNonRoot], isOther && "set runAsUser: 0"];
  return problem(`does not run as root: ${what}`, fixes.filter(Boolean).join(", and "));
});

export const manifestOperatingSystem = eachDeployment(
  "CSI112",
  "manifest-operating-system",
  ({ program }) =>
    program.kind !== "ours"
      ? undefined
      : problem(
          "is for Windows nodes, and this registrar runs on Linux only",
          "use the official registrar's image there",
        ),
  ({ isForWindows }) => isForWindows,
);

export const manifestReadable = check<ManifestFacts>("CSI113", "manifest-readable", (facts) =>
  facts.unread.map(({ place, why, advice = "correct it, or leave it out" }) =>
    unread(place, `cannot be judged: ${why}`, advice),
  ),
);
