import { boundText } from "../../../logging/escape";
import { check, unread } from "../../findings/finding";
import type { ManifestFacts } from "../read-deployments";
import { eachDeployment, problem, warning } from "./each-deployment";

export const manifestPreStop = eachDeployment("CSI106", "manifest-pre-stop", ({ preStop, program, pod }) => {
  const beside = pod.removers.map(({ container, command }) =>
    warning(
      `is beside container ${container}, whose preStop hook removes registration sockets: ${command}`,
      "leave them out of the hook: the registrar removes its own",
    ),
  );
  if (program.kind === "unknown") return beside;
  const fails = program.hasShell === false && /(?:^|\/)(?:ba|da)?sh$/.test(preStop[0] ?? "");
  if (!fails && !preStop.some((word) => /\brm\b/.test(word))) return beside;
  const what = fails ? "always fails, because the image has no shell" : "removes files";
  const own = `has a preStop hook that ${what}: ${boundText(preStop.join(" "))}`;
  return [warning(own, "delete the hook"), ...beside];
});

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
  ({ program }) => {
    if (program.kind !== "ours") return undefined;
    return program.isSwapped
      ? warning(
          "has the same image as one for Linux, and this registrar does not run on Windows nodes; the cluster may have none",
          "keep the official registrar's image there: the chart needs an image value for each, or an admission policy swaps it on Linux only",
        )
      : problem(
          "is for Windows nodes, and this registrar runs on Linux only",
          "use the official registrar's image there",
        );
  },
  ({ isForWindows }) => isForWindows,
);

export const manifestReadable = check<ManifestFacts>("CSI113", "manifest-readable", (facts) =>
  facts.unread.map(({ place, why, advice = "correct it, or leave it out" }) =>
    unread(place, `cannot be judged: ${why}`, advice),
  ),
);
