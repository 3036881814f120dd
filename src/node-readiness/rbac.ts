export type PolicyRule = ReturnType<typeof neededRules>[number];

/** What a registrar asks the API server to do. */
export interface AccessNeeds {
  readonly taints: boolean;
  readonly condition: boolean;
  /** Asks as its own node, by constrained impersonation (KEP-5284). */
  readonly impersonation: boolean;
}

/** The first minor version of Kubernetes 1 with constrained impersonation by default (beta). */
export const IMPERSONATION_MINOR = 36;

/**
 * The least rights. RBAC cannot restrict a client to its own node: that takes a ValidatingAdmissionPolicy, or
 * impersonation of the node in whose pod the client's token is.
 */
export function neededRules(needs: AccessNeeds) {
  const rule = (group: string, resource: string, ...verbs: readonly string[]) => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
  });
  const rules = [
    rule("", "nodes", "get", "watch", ...(needs.taints ? ["patch"] : [])),
    ...(needs.condition ? [rule("", "nodes/status", "patch")] : []),
    rule("storage.k8s.io", "csinodes", "get"),
  ];
  if (!needs.impersonation) return rules;
  const on = ({ verbs, ...what }: (typeof rules)[number]) => ({
    ...what,
    verbs: verbs.map((verb) => `impersonate-on:associated-node:${verb}`),
  });
  return [rule("authentication.k8s.io", "nodes", "impersonate:associated-node"), ...rules.map(on)];
}

/** A rule as YAML on one line. */
export function ruleText({ apiGroups, resources, verbs }: PolicyRule): string {
  const list = (words: readonly string[]) => `[${words.map((word) => word || '""').join(", ")}]`;
  return `{apiGroups: ${list(apiGroups)}, resources: ${list(resources)}, verbs: ${list(verbs)}}`;
}

/** Rules as YAML on one line, to paste behind `rules:`. */
export const rulesText = (rules: readonly PolicyRule[]) => `[${rules.map(ruleText).join(", ")}]`;
