import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import type { PolicyRule } from "../../../../node-readiness/node-api";

export interface AccessFacts {
  /** ServiceAccounts, as `NAMESPACE/NAME`, that give pods no token. */
  readonly tokenless: string[];
  /** These are all that the cluster has, so that a right that is not among them does not exist. */
  readonly isWhole: boolean;
  /** The subjects by their names as users and groups. */
  readonly bindings: { readonly role: string; readonly subjects: readonly string[] }[];
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
        subjects: list(object.subjects)
          .map(tree)
          .map(({ kind, namespace, name }) =>
            kind === "ServiceAccount" ? userOf(accountName(namespace, name)) : text(name),
          ),
      });
  }
}

const userOf = (account: string) => `system:serviceaccount:${account.replace("/", ":")}`;

/** The user and the groups that RBAC knows an account by, given as `NAMESPACE/NAME`. */
export function namesOf(account: string): readonly string[] {
  const [namespace] = account.split("/");
  const ofNamespace = `system:serviceaccounts:${namespace}`;
  return [userOf(account), ofNamespace, "system:serviceaccounts", "system:authenticated"];
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
