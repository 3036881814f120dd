import { numberOrNone, text, tree } from "../../../../kube-api/objects";
import { isTemplate, OUR_ARCHITECTURES } from "../../findings/words";
import type { NodeRules } from "../read/pod";
import { eachDeployment, problem, type Statement, warning } from "./each-deployment";

const manifestSurge = eachDeployment("CSI107", "manifest-surge", ({ source: { object }, hasDriver }) => {
  const { updateStrategy } = tree(object.spec);
  const maxSurge = text(tree(tree(updateStrategy).rollingUpdate).maxSurge);
  return hasDriver && !/^(?:0%?)?$/.test(maxSurge)
    ? problem(`updates with maxSurge ${maxSurge}, and has a driver in its pods`, "set maxSurge: 0")
    : undefined;
});

const manifestUser = eachDeployment("CSI108", "manifest-user", ({ source: { pod, container } }) => {
  const [own, ofPod] = [container, pod].map(({ securityContext }) => tree(securityContext));
  const isNonRoot = (own?.runAsNonRoot ?? ofPod?.runAsNonRoot) === true;
  const user = numberOrNone(own?.runAsUser ?? ofPod?.runAsUser) ?? 0;
  return isNonRoot || user !== 0
    ? problem(
        `does not run as root: ${isNonRoot ? "runAsNonRoot" : `runAsUser ${user}`}`,
        "set runAsUser: 0 and runAsNonRoot: false in the container",
      )
    : undefined;
});

const ARCHITECTURE_LABELS = ["kubernetes.io/arch", "beta.kubernetes.io/arch"];

const manifestOperatingSystem = eachDeployment(
  "CSI112",
  "manifest-operating-system",
  ({ program, isForWindows, nodes }) => {
    if (program.kind !== "ours") return undefined;
    if (!isForWindows) return program.isOurBuild ? judgeArchitectures(nodes) : undefined;
    return program.isSwapped
      ? warning(
          "has the same image as one for Linux, and this registrar does not run on Windows nodes",
          "keep the official image there, if the cluster has any: an admission policy swaps it on Linux only",
        )
      : problem(
          "is for Windows nodes, and this registrar runs on Linux only",
          "use the official image there",
        );
  },
  () => true,
);

function judgeArchitectures(nodes: NodeRules): Statement | undefined {
  // Undefined: any.
  const choices = nodes.map((term) => {
    const rules = term.filter(({ key }) => ARCHITECTURE_LABELS.includes(key));
    const isMet = (value: string) =>
      rules.every(({ operator, values }) =>
        operator === "In" ? values.has(value) : operator !== "NotIn" || !values.has(value),
      );
    const [named] = rules.filter(({ operator }) => operator === "In");
    return named && [...named.values].filter(isMet);
  });
  const others = [...new Set(choices.flatMap((values) => values ?? []))].filter(
    (value) => !OUR_ARCHITECTURES.includes(value) && !isTemplate(value),
  );
  if (others.length === 0) return undefined;
  const isOnly = choices.every((values) => values?.every((value) => others.includes(value)));
  const what = `on ${others.join(" and ")} nodes, and this registrar's image is for ${OUR_ARCHITECTURES.join(", ")}`;
  return isOnly
    ? problem(`runs ${what}`, "leave this container to the official image")
    : warning(`may run ${what}`, "take these nodes out of its rules, or leave it to the official image");
}

export const podChecks = [manifestSurge, manifestUser, manifestOperatingSystem];
