import { SERVICE_ACCOUNT_DIRECTORY } from "../../../kube-api/access";
import { numberOrNone, text, tree } from "../../../kube-api/objects";
import { neededRules, type PolicyRule, rulesText } from "../../../node-readiness/node-api";
import { isWithin } from "../../../unix/mounts";
import { isTemplate, OUR_ARCHITECTURES } from "../../findings/words";
import { includesAccount } from "../read/access";
import type { Deployment, ManifestFacts } from "../read/deployments";
import type { NodeRules } from "../read/node-rules";
import { eachDeployment, ok, problem, type Statement, unknown, warning } from "./each-deployment";

const manifestSurge = eachDeployment("CSI107", "manifest-surge", ({ source: { object }, hasDriver }) => {
  const { updateStrategy } = tree(object.spec);
  const maxSurge = text(tree(tree(updateStrategy).rollingUpdate).maxSurge);
  return hasDriver && !/^(?:0%?)?$/.test(maxSurge)
    ? problem(`updates with maxSurge ${maxSurge}, and has a driver in its pods`, "set maxSurge: 0")
    : undefined;
});

const manifestUser = eachDeployment("CSI108", "manifest-user", ({ program, source }) => {
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

const manifestOperatingSystem = eachDeployment(
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
    const rules = term.filter(({ key }) => ARCHITECTURE_LABELS.includes(key));
    const [first, ...more] = rules.filter(({ operator }) => operator === "In");
    const barred = rules.filter(({ operator }) => operator === "NotIn");
    const isBarred = (value: string) => barred.some(({ has }) => has(value));
    if (first !== undefined)
      return first.values.filter((value) => more.every(({ has }) => has(value)) && !isBarred(value));
    return OUR_ARCHITECTURES.every(isBarred) ? ["other"] : undefined;
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

export const manifestAccess = eachDeployment("CSI116", "manifest-access", (one, { access }) => {
  const { program, settings } = one;
  if (program.kind !== "ours" || settings.nodeAccess === undefined) return undefined;
  return [judgeToken(one, access), judgeRights(one, settings.nodeAccess, access)];
});

function judgeToken({ pod, mounts }: Deployment, { tokenless }: ManifestFacts["access"]) {
  const { account, isTokenMounted = !tokenless.includes(account) } = pod;
  if (isTokenMounted || mounts.some(({ mountPath }) => isWithin(SERVICE_ACCOUNT_DIRECTORY, mountPath)))
    return undefined;
  return problem(
    "asks the API server, and has no token: automountServiceAccountToken is false",
    `mount a projected serviceAccountToken at ${SERVICE_ACCOUNT_DIRECTORY}, as registrar manifest does`,
  );
}

function judgeRights(
  { pod: { account } }: Deployment,
  needs: NonNullable<Deployment["settings"]["nodeAccess"]>,
  { bindings, roles, isWhole }: ManifestFacts["access"],
): Statement {
  const needed = neededRules(needs);
  const bound = bindings.filter(({ accounts }) => includesAccount(accounts, account));
  if (bound.length === 0 && !isWhole)
    return unknown(
      `needs rights, and no ClusterRoleBinding in these files has ServiceAccount ${account}`,
      `bind a ClusterRole to it: rules: ${rulesText(needed)}`,
    );
  const granted = bound.map(({ role }) => roles.get(role));
  if (granted.includes(undefined) && !isWhole)
    return unknown(`has rights by a ClusterRole that is not in these files`);
  const rules = granted.flatMap((some) => some ?? []);
  const missing = needed.flatMap((rule) => lacking(rule, rules));
  return missing.length === 0
    ? ok(`has the rights that it needs by ServiceAccount ${account}`)
    : problem(
        `lacks rights: no ClusterRole of ServiceAccount ${account} has them`,
        `${bound.length === 0 ? "bind a ClusterRole to it: rules:" : "add to its rules:"} ${rulesText(missing)}`,
      );
}

/** The part of a rule of one group and one resource that is not granted. */
function lacking(rule: PolicyRule, granted: readonly PolicyRule[]): readonly PolicyRule[] {
  const has = (words: readonly string[], word = "") => words.includes(word) || words.includes("*");
  const verbs = rule.verbs.filter(
    (verb) =>
      !granted.some(
        ({ apiGroups, resources, verbs: some }) =>
          has(apiGroups, rule.apiGroups[0]) && has(resources, rule.resources[0]) && has(some, verb),
      ),
  );
  return verbs.length === 0 ? [] : [{ ...rule, verbs }];
}

export const podChecks = [manifestSurge, manifestUser, manifestOperatingSystem, manifestAccess];
