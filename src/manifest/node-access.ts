import { invalidOption } from "../base/errors";
import { SERVICE_ACCOUNT_DIRECTORY } from "../kube-api/access";
import { DRIVER_PLACEHOLDER, fillIn } from "../node-readiness/driver-template";
import { IMPERSONATION_MINOR, neededRules, ruleText } from "../node-readiness/node-api";
import { type NodePolicyOptions, nodePolicy } from "./node-policy";
import type { ResolvedBasics } from "./options";
import { items, scalar, type Yaml, yaml } from "./template";

/** What a registrar changes on its Node. */
export interface NodeAccessOptions extends NodePolicyOptions {
  /** Whether to write a rule for the node readiness controller; needs a condition of one driver. */
  readonly readinessRule: boolean;
  /** What confines it to its own node. `nothing`: the cluster has no ValidatingAdmissionPolicy. */
  readonly confinedBy: "policy" | "impersonation" | "nothing";
}

export type NodeAccess = ReturnType<typeof nodeAccess>;

type Basics = Pick<ResolvedBasics, "name" | "namespace">;

export const serviceAccount = ({ name, namespace }: Basics): Yaml => yaml`
  # The identity of the pods at the API server.
  apiVersion: v1
  kind: ServiceAccount
  metadata:
    name: ${scalar(name)}
    namespace: ${scalar(namespace)}
`;

/** The ClusterRole is in every OpenShift 4, as OpenShift's own CSI drivers use that SecurityContextConstraints. */
export const sccBinding = ({ name, namespace }: Basics): Yaml => yaml`
  # OpenShift admits pods with hostPath volumes and privileged containers only by a SecurityContextConstraints that allows them.
  apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata:
    name: ${scalar(name)}
    namespace: ${scalar(namespace)}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:openshift:scc:privileged}
  subjects:
    - {kind: ServiceAccount, name: ${scalar(name)}, namespace: ${scalar(namespace)}}
`;

/** Gives a registrar access to its Node. Throws INVALID_OPTION for a taint or condition that belongs to others. */
export function nodeAccess(basics: Basics, options: NodeAccessOptions) {
  const { startupTaints, condition, drivers = [] } = options;
  for (const template of [...startupTaints.map(({ key }) => key), condition ?? ""])
    for (const driver of drivers)
      if (fillIn(template, driver) === undefined)
        throw invalidOption(`${template} with driver ${driver} is not a name, or one of other programs`);
  const [name, namespace] = [scalar(basics.name), scalar(basics.namespace)];
  return {
    /** Comes before the DaemonSet; the policy comes before the rights that it restricts. */
    before: [
      ...(options.confinedBy === "policy" ? nodePolicy(basics, options) : []),
      ...rights(name, namespace, options),
    ],
    after: readinessRule(basics.name, options),
    args: items([
      ...Object.values(readinessArguments(options)).flat(),
      ...(options.confinedBy === "impersonation" ? ["--impersonate-node"] : []),
    ]),
    env: yaml`env: [${NODE_NAME_VARIABLE}]`,
    mount: yaml`- {name: api-access, mountPath: ${SERVICE_ACCOUNT_DIRECTORY}, readOnly: true}`,
    volume: yaml`
      # The token is bound to the pod, and so says which node it is on. Only the registrar has it.
      - name: api-access
        projected:
          sources:
            - serviceAccountToken: {path: token, expirationSeconds: 3600}
            - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
    `,
  };
}

/** The registrar's arguments, by their flags. */
export const readinessArguments = ({
  startupTaints,
  condition,
}: Pick<NodeAccessOptions, "startupTaints" | "condition">) => ({
  "remove-startup-taint": startupTaints.map(
    ({ key, effect }) => `--remove-startup-taint=${key}${effect ? `:${effect}` : ""}`,
  ),
  "node-condition": condition === undefined ? [] : [`--node-condition=${condition}`],
});

export const NODE_NAME_VARIABLE = "{name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}";

const WHAT_CONFINES: Readonly<Record<NodeAccessOptions["confinedBy"], string>> = {
  policy: 'RBAC cannot say "to its own node": the policy above does.',
  impersonation: `As the node that its pod is on, and in no other way: it needs Kubernetes 1.${IMPERSONATION_MINOR}.`,
  nothing: 'RBAC cannot say "to its own node": it may change every node.',
};

function rights(
  name: string,
  namespace: string,
  { startupTaints, condition, confinedBy }: NodeAccessOptions,
): readonly Yaml[] {
  const rules = neededRules({
    taints: startupTaints.length > 0,
    condition: condition !== undefined,
    impersonation: confinedBy === "impersonation",
  });
  return [
    yaml`
      # What it may do. ${WHAT_CONFINES[confinedBy]}
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata:
        name: ${name}
      rules:
        ${rules.map((rule) => yaml`- ${ruleText(rule)}`)}
    `,
    yaml`
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRoleBinding
      metadata:
        name: ${name}
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ${name}}
      subjects:
        - {kind: ServiceAccount, name: ${name}, namespace: ${namespace}}
    `,
  ];
}

/** For clusters with the node readiness controller of kubernetes-sigs. */
function readinessRule(
  name: string,
  { condition, drivers: [driverName] = [], readinessRule: isWanted }: NodeAccessOptions,
): readonly Yaml[] {
  if (!isWanted || condition === undefined || driverName === undefined) return [];
  return [
    yaml`
      # The node readiness controller keeps a taint on each node whose condition is not True. Since its release 0.3
      # only dryRun can be changed later: to change another field, delete the rule and apply it again.
      apiVersion: readiness.node.x-k8s.io/v1alpha1
      kind: NodeReadinessRule
      metadata:
        name: ${scalar(name)}
      spec:
        conditions:
          - type: ${scalar(condition.replaceAll(DRIVER_PLACEHOLDER, driverName))}
            requiredStatus: "True"
        enforcementMode: continuous
        taint: {key: readiness.k8s.io/${name}, value: pending, effect: NoSchedule}
        nodeSelector: {matchLabels: {kubernetes.io/os: linux}}
    `,
  ];
}
