export type PolicyRule = ReturnType<typeof neededRules>[number];

/** The least rights. RBAC cannot restrict a client to its own node: that takes a ValidatingAdmissionPolicy. */
export function neededRules(needs: { taints: boolean; condition: boolean }) {
  const rule = (group: string, resource: string, ...verbs: readonly string[]) => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
  });
  return [
    rule("", "nodes", "get", "watch", ...(needs.taints ? ["patch"] : [])),
    ...(needs.condition ? [rule("", "nodes/status", "patch")] : []),
    rule("storage.k8s.io", "csinodes", "get"),
  ];
}

/** A rule as YAML on one line. */
export function ruleText({ apiGroups, resources, verbs }: PolicyRule): string {
  const list = (words: readonly string[]) => `[${words.map((word) => word || '""').join(", ")}]`;
  return `{apiGroups: ${list(apiGroups)}, resources: ${list(resources)}, verbs: ${list(verbs)}}`;
}

/** Rules as YAML on one line, to paste behind `rules:`. */
export const rulesText = (rules: readonly PolicyRule[]) => `[${rules.map(ruleText).join(", ")}]`;
