import { list, type Tree, text, tree } from "../../../kube-api/objects";
import type { PolicyRule } from "../../../node-readiness/node-api";

export interface AccessFacts {
  /** ServiceAccounts, as `NAMESPACE/NAME`, that give pods no token. */
  readonly tokenless: string[];
  /** These are all that the cluster has, so that a right that is not among them does not exist. */
  readonly isWhole: boolean;
  readonly bindings: { readonly role: string; readonly accounts: readonly string[] }[];
  /** The rules of each ClusterRole; undefined where the API server puts them together. */
  readonly roles: Map<string, readonly PolicyRule[] | undefined>;
}

export const noAccess = (isWhole = false): AccessFacts => ({
  tokenless: [],
  isWhole,
  bindings: [],
  roles: new Map(),
});

/** The name by which a pod, a binding and the account itself know an account. */
export function accountName(namespace: unknown, name: unknown): string {
  return `${text(namespace) || "default"}/${text(name) || "default"}`;
}

export function addAccess({ tokenless, isWhole, bindings, roles }: AccessFacts, object: Tree): void {
  const { namespace, name } = tree(object.metadata);
  switch (object.kind) {
    case "ServiceAccount":
      if (object.automountServiceAccountToken === false) tokenless.push(accountName(namespace, name));
      return;
    case "ClusterRole":
      roles.set(text(name), isWhole || object.aggregationRule === undefined ? rulesOf(object) : undefined);
      return;
    case "ClusterRoleBinding":
      bindings.push({
        role: text(tree(object.roleRef).name),
        accounts: list(object.subjects).flatMap((subject) => accountsOf(tree(subject))),
      });
  }
}

const EVERY_ACCOUNT = ["system:serviceaccounts", "system:authenticated"];

/** The accounts of a subject; `NAMESPACE/*` and `*` stand for all. */
function accountsOf({ kind, namespace, name }: Tree): readonly string[] {
  const [, users, account] = /^system:serviceaccount(s?):([^:]+(?::[^:]+)?)$/.exec(text(name)) ?? [];
  switch (kind) {
    case "ServiceAccount":
      return [accountName(namespace, name)];
    case "User":
      return users === "" && account !== undefined ? [account.replace(":", "/")] : [];
    case "Group":
      if (EVERY_ACCOUNT.includes(text(name))) return ["*"];
      return users === "s" && account !== undefined ? [`${account}/*`] : [];
    default:
      return [];
  }
}

/** Whether a binding's accounts have this one, as `NAMESPACE/NAME`. */
export function includesAccount(accounts: readonly string[], account: string): boolean {
  const [namespace] = account.split("/");
  return [account, `${namespace}/*`, "*"].some((one) => accounts.includes(one));
}

function rulesOf({ rules }: Tree): readonly PolicyRule[] {
  return list(rules)
    .map(tree)
    .filter(({ resourceNames }) => list(resourceNames).length === 0)
    .map((rule) => ({
      apiGroups: list(rule.apiGroups).map(text),
      resources: list(rule.resources).map(text),
      verbs: list(rule.verbs).map(text),
    }));
}
