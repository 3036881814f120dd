import { boundText } from "../../../logging/escape";
import { check, unread } from "../../findings/finding";
import { isTemplate, OUR_ARCHITECTURES } from "../../rules/words";
import type { ManifestFacts } from "../read/deployments";
import type { NodeRules } from "../read/node-rules";
import { eachDeployment, problem, type Statement, unknown, warning } from "./each-deployment";

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
  const words = boundText(preStop.join(" "));
  const mayFailAlready =
    program.kind === "ours" && program.replaced && program.replaced.hasShell === undefined;
  if (fails && mayFailAlready)
    return [
      unknown(
        `has a preStop hook that always fails after the swap, because the image has no shell, and may fail before: ${words}`,
        "delete the hook",
      ),
      ...beside,
    ];
  const what = fails ? "always fails, because the image has no shell" : "removes files";
  return [warning(`has a preStop hook that ${what}: ${words}`, "delete the hook"), ...beside];
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

export const manifestUser = eachDeployment(
  "CSI108",
  "manifest-user",
  ({ program, runAsUser, runAsNonRoot }) => {
    const isOther = runAsUser !== undefined && runAsUser !== 0;
    if (runAsNonRoot === undefined && !isOther) return undefined;
    // Others may build the official one with another user.
    const isRoot =
      program.kind === "ours"
        ? !program.hasShell
        : program.kind === "official" && program.hasShell !== undefined;
    const fixes = [runAsNonRoot && NON_ROOT_FIXES[runAsNonRoot], isOther && "set runAsUser: 0"];
    const fix = fixes.filter(Boolean).join(", and ");
    if (runAsUser === undefined && isRoot)
      return problem("cannot be created: runAsNonRoot, no runAsUser, and the image's user is root", fix);
    const what = runAsNonRoot === undefined ? `runAsUser ${runAsUser}` : "runAsNonRoot";
    return problem(`does not run as root: ${what}`, fix);
  },
);

const ARCHITECTURE_LABELS = ["kubernetes.io/arch", "beta.kubernetes.io/arch"];

export const manifestOperatingSystem = eachDeployment(
  "CSI112",
  "manifest-operating-system",
  ({ program, isForWindows, pod }) => {
    if (program.kind !== "ours") return undefined;
    if (!isForWindows) return program.hasShell ? undefined : judgeArchitectures(pod.nodes);
    return program.replaced
      ? warning(
          "has the same image as one for Linux, and this registrar does not run on Windows nodes; the cluster may have none",
          "keep the official registrar's image there: the chart needs an image value for each, or an admission policy swaps it on Linux only",
        )
      : problem(
          "is for Windows nodes, and this registrar runs on Linux only",
          "use the official registrar's image there",
        );
  },
  () => true,
);

function judgeArchitectures(nodes: NodeRules): Statement | undefined {
  // Undefined: any.
  const choices = nodes.map((term) => {
    const [first, ...more] = term.filter(
      ({ key, operator }) => ARCHITECTURE_LABELS.includes(key) && operator === "In",
    );
    return first?.values.filter((value) => more.every(({ has }) => has(value)));
  });
  const others = [...new Set(choices.flatMap((values) => values ?? []))].filter(
    (value) => !OUR_ARCHITECTURES.includes(value) && !isTemplate(value),
  );
  if (others.length === 0) return undefined;
  const [names, image] = [
    others.join(" and "),
    `this registrar's image is for ${OUR_ARCHITECTURES.join(" and ")}`,
  ];
  return choices.every((values) => values?.every((value) => others.includes(value)))
    ? problem(`is for ${names} nodes, and ${image}`, "leave this container to the official image")
    : warning(
        `may be on ${names} nodes, and ${image}; the cluster may have none`,
        `take ${names} out of its node rules, or leave this container to the official image`,
      );
}

export const manifestReadable = check<ManifestFacts>("CSI113", "manifest-readable", (facts) =>
  facts.unread.map(({ place, object, why, advice = "correct it, or leave it out" }) => ({
    ...unread(place, `cannot be judged: ${why}`, advice),
    objects: object && [object],
  })),
);
