import type { PolicyRule } from "../../node-readiness/rbac";
import { list, type Tree, text, tree } from "../rules/objects";

/** What the objects beside the pods say about their access to the API server. */
export interface AccessFacts {
  /** ServiceAccounts, as `NAMESPACE/NAME`, that give pods no token. */
  readonly tokenless: string[];
  readonly bindings: { readonly role: string; readonly accounts: readonly string[] }[];
  /** The rules of each ClusterRole; undefined where the API server puts them together. */
  readonly roles: Map<string, readonly PolicyRule[] | undefined>;
}

export const noAccess = (): AccessFacts => ({ tokenless: [], bindings: [], roles: new Map() });

/** The name by which a pod, a binding and the account itself know an account. */
export function accountName(namespace: unknown, name: unknown): string {
  return `${text(namespace) || "default"}/${text(name) || "default"}`;
}

/** Adds an object, if it is of those kinds. */
export function addAccess({ tokenless, bindings, roles }: AccessFacts, object: Tree): void {
  const { namespace, name } = tree(object.metadata);
  switch (object.kind) {
    case "ServiceAccount":
      if (object.automountServiceAccountToken === false) tokenless.push(accountName(namespace, name));
      return;
    case "ClusterRole":
      roles.set(text(name), object.aggregationRule === undefined ? rulesOf(object) : undefined);
      return;
    case "ClusterRoleBinding":
      bindings.push({
        role: text(tree(object.roleRef).name),
        accounts: list(object.subjects)
          .map(tree)
          .filter(({ kind }) => kind === "ServiceAccount")
          .map((subject) => accountName(subject.namespace, subject.name)),
      });
  }
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
