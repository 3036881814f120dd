import { numberOrNone, text, tree } from "../../../kube-api/objects";
import { isTemplate, OUR_ARCHITECTURES } from "../../rules/words";
import type { NodeRules } from "../read/node-rules";
import { eachDeployment, problem, type Statement, warning } from "./each-deployment";

export const manifestSurge = eachDeployment(
  "CSI107",
  "manifest-surge",
  ({ source: { object }, hasDriver }) => {
    const { updateStrategy } = tree(object.spec);
    const maxSurge = text(tree(tree(updateStrategy).rollingUpdate).maxSurge);
    return hasDriver && !/^(?:0%?)?$/.test(maxSurge)
      ? problem(`updates with maxSurge ${maxSurge}, and has a driver in its pods`, "set maxSurge: 0")
      : undefined;
  },
);

export const manifestUser = eachDeployment("CSI108", "manifest-user", ({ program, source }) => {
  const [ofPod, ofContainer] = [source.pod, source.container].map(({ securityContext }) =>
    tree(securityContext),
  );
  const security = { ...ofPod, ...ofContainer };
  const [user, isNonRoot] = [numberOrNone(security.runAsUser), security.runAsNonRoot === true];
  const isOther = user !== undefined && user !== 0;
  if (!isNonRoot && !isOther) return undefined;
  const fromPod = "set runAsNonRoot: false in the container";
  const fixes = [
    isNonRoot && (ofPod?.runAsNonRoot === true ? fromPod : "take runAsNonRoot off"),
    isOther && "set runAsUser: 0",
  ];
  const fix = fixes.filter(Boolean).join(", and ");
  // Others may build the official one with another user.
  const isRoot =
    program.kind === "ours"
      ? !program.hasShell
      : program.kind === "official" && program.hasShell !== undefined;
  if (user === undefined && isRoot)
    return problem("cannot be created: runAsNonRoot, no runAsUser, and the image's user is root", fix);
  return problem(`does not run as root: ${isNonRoot ? "runAsNonRoot" : `runAsUser ${user}`}`, fix);
});

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
