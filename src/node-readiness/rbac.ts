/** A rule of a ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** What is asked of the API server. */
export interface NeededRights {
  /** Whether startup taints are removed. */
  readonly taints: boolean;
  /** Whether a condition is kept. */
  readonly condition: boolean;
}

/** The least that RBAC must allow. RBAC cannot say "its own node": that is for a ValidatingAdmissionPolicy. */
export function neededRules({ taints, condition }: NeededRights): readonly PolicyRule[] {
  const rule = (group: string, resource: string, ...verbs: readonly string[]): PolicyRule => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
  });
  return [
    rule("", "nodes", "get", "watch", ...(taints ? ["patch"] : [])),
    ...(condition ? [rule("", "nodes/status", "patch")] : []),
    rule("storage.k8s.io", "csinodes", "get"),
  ];
}

/** Rules as YAML on one line, which may be pasted below `rules:`. */
export function rulesText(rules: readonly PolicyRule[]): string {
  const list = (words: readonly string[]) => `[${words.map((word) => word || '""').join(", ")}]`;
  const lines = rules.map(
    ({ apiGroups, resources, verbs }) =>
      `{apiGroups: ${list(apiGroups)}, resources: ${list(resources)}, verbs: ${list(verbs)}}`,
  );
  return `[${lines.join(", ")}]`;
}
