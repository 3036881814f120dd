import { messageOf } from "../../../../base/errors";
import { type ApiAccess, readSecret } from "../../../../kube-api/access";
import { type ApiClient, createApiClient } from "../../../../kube-api/client";
import { tree } from "../../../../kube-api/objects";
import {
  type AccessNeeds,
  createNodeApi,
  done,
  neededRules,
  nodeUser,
  type PolicyRule,
} from "../../../../node-readiness/node-api";
import type { StartupTaint } from "../../../../node-readiness/startup-taint";

/** The settings of a registrar with `--remove-startup-taint` or `--node-condition`, as far as they can be known here. */
export interface NodeReadinessTarget {
  /** May have `{driver}` in their keys. */
  readonly startupTaints: readonly StartupTaint[];
  readonly hasCondition: boolean;
  readonly impersonatesNode: boolean;
  readonly nodeName: { readonly kind: "known"; readonly name: string } | Unknown;
  readonly access: { readonly kind: "known"; readonly access: ApiAccess } | Unknown;
}

type Unknown = { readonly kind: "unknown"; readonly why: string };

export type NodeReadinessFacts = Awaited<ReturnType<typeof lookAtNodeReadiness>>;

/** Asks the API server, with the rights of the pod that this runs in; changes nothing. Never rejects. */
export async function lookAtNodeReadiness(target: NodeReadinessTarget) {
  if (target.access.kind === "unknown" || target.nodeName.kind === "unknown")
    return { target, kind: "not-asked" } as const;
  const { access } = target.access;
  if (access.token?.kind === "file") {
    const { path } = access.token;
    const why = await readSecret(access.token).then(() => undefined, messageOf);
    if (why !== undefined) return { target, kind: "no-token", path, why } as const;
  }
  const { name: nodeName } = target.nodeName;
  const client = createApiClient(access);
  const reader = target.impersonatesNode ? createApiClient(access, nodeUser(nodeName)) : client;
  const api = createNodeApi(reader, nodeName);
  const { signal } = new AbortController();
  try {
    const [rights, node, listed] = await Promise.all([
      askForRights(client, neededRules(needsOf(target)), nodeName),
      api.getNode(signal),
      api.getCsiNode(signal).then((read) => (read.kind === "done" ? done(read.value.drivers) : read)),
    ]);
    return { target, kind: "asked", nodeName, rights, node, listed } as const;
  } finally {
    client.close();
    reader.close();
  }
}

export const needsOf = (target: NodeReadinessTarget): AccessNeeds => ({
  taints: target.startupTaints.length > 0,
  condition: target.hasCondition,
  impersonation: target.impersonatesNode,
});

/**
 * What RBAC allows, as in a role: `patch nodes/status`. Every authenticated user may ask this about itself (ClusterRole
 * system:basic-user).
 */
async function askForRights(client: ApiClient, rules: readonly PolicyRule[], nodeName: string) {
  const wanted = rules.flatMap(({ apiGroups: [group], resources: [full = ""], verbs }) =>
    verbs.map((verb) => ({ group, full, verb })),
  );
  const value = { allowed: [] as string[], denied: [] as string[] };
  for (const { group, full, verb } of wanted) {
    const [resource, subresource] = full.split("/");
    const body = {
      kind: "SelfSubjectAccessReview",
      apiVersion: "authorization.k8s.io/v1",
      spec: { resourceAttributes: { group, resource, subresource, verb, name: nodeName } },
    };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const answer = await client.call({ method: "POST", path, body }, new AbortController().signal);
    if (answer.kind === "failed") return answer;
    const isAllowed = tree(tree(answer.value).status).allowed === true;
    value[isAllowed ? "allowed" : "denied"].push(`${verb} ${full}`);
  }
  return { kind: "done", value } as const;
}
