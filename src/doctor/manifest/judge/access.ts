import { SERVICE_ACCOUNT_DIRECTORY } from "../../../kube-api/access";
import { neededRules, type PolicyRule, rulesText } from "../../../node-readiness/node-api";
import { isWithin } from "../../../unix/mounts";
import { includesAccount } from "../read/access";
import type { Deployment, ManifestFacts } from "../read/deployments";
import { eachDeployment, ok, problem, type Statement, unknown } from "./each-deployment";

export const manifestAccess = eachDeployment("CSI116", "manifest-access", (one, { access }) => {
  const { program, settings } = one;
  if (program.kind !== "ours" || settings.nodeAccess === undefined) return undefined;
  return [judgeToken(one, access), judgeRights(one, settings.nodeAccess, access)];
});

function judgeToken(
  { pod, mounts }: Deployment,
  { tokenless }: ManifestFacts["access"],
): Statement | undefined {
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
