import { invalidOption } from "../../base/errors";
import { SERVICE_ACCOUNT_DIRECTORY } from "../../kube-api/access";
import { MAX_CONDITIONS } from "../../node-readiness/condition";
import {
  DRIVER_PLACEHOLDER,
  DRIVERS_PATTERN,
  dependsOnDriver,
  fillIn,
  OTHERS_PATTERN,
  patternOf,
} from "../../node-readiness/driver-template";
import { neededRules } from "../../node-readiness/node-api";
import type { parseTargets } from "../../node-readiness/options";
import type { StartupTaint } from "../../node-readiness/startup-taint";
import type { ResolvedBasics } from "./options";
import { items, object, scalar, type Yaml, yaml } from "./template";

type Targets = ReturnType<typeof parseTargets>;

interface NodeAccessOptions extends Targets {
  /** The names that `{driver}` stands for. Undefined: any. */
  readonly drivers: readonly string[] | undefined;
}

export type NodeAccess = ReturnType<typeof nodeAccess>;

type Basics = Pick<ResolvedBasics, "name" | "namespace">;

export const serviceAccount = ({ name, namespace }: Basics): Yaml => yaml`
  # The identity of the pods at the API server.
  ${object("v1", "ServiceAccount", name, namespace)}
`;

const binding = (role: string, { name, namespace }: Basics) => yaml`
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ${scalar(role)}}
  subjects:
    - {kind: ServiceAccount, name: ${scalar(name)}, namespace: ${scalar(namespace)}}
`;

/** The ClusterRole is in every OpenShift 4, as OpenShift's own CSI drivers use that SecurityContextConstraints. */
export const sccBinding = (basics: Basics): Yaml => yaml`
  # OpenShift admits pods with hostPath volumes and privileged containers only by a SecurityContextConstraints that allows them.
  ${object("rbac.authorization.k8s.io/v1", "RoleBinding", basics.name, basics.namespace)}
  ${binding("system:openshift:scc:privileged", basics)}
`;

/** Gives a registrar access to its Node. Throws INVALID_OPTION for a taint or condition that belongs to others. */
export function nodeAccess(basics: Basics, options: NodeAccessOptions) {
  const { startupTaints, condition, drivers = [] } = options;
  for (const template of [...startupTaints.map(({ key }) => key), condition ?? ""])
    for (const driver of drivers)
      if (fillIn(template, driver) === undefined)
        throw invalidOption(`${template} with driver ${driver} is not a name, or one of other programs`);
  return {
    /** Comes before the DaemonSet; the policy comes before the rights that it restricts. */
    before: [...nodePolicy(basics, options), ...rights(basics, options)],
    args: items([
      ...startupTaints.map(({ key, effect }) => `--remove-startup-taint=${key}${effect ? `:${effect}` : ""}`),
      ...(condition === undefined ? [] : [`--node-condition=${condition}`]),
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

export const NODE_NAME_VARIABLE = "{name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}";

const rights = (basics: Basics, targets: Targets): readonly Yaml[] => [
  yaml`
    # RBAC cannot say "to its own node": the policy does.
    ${object("rbac.authorization.k8s.io/v1", "ClusterRole", basics.name)}
    rules:
      ${neededRules(targets).map((rule) => yaml`- ${rule}`)}
  `,
  yaml`
    ${object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", basics.name)}
    ${binding(basics.name, basics)}
  `,
];

/** A qualified name: 253 characters, a slash, 63 characters. */
const MAX_TYPE = 317;
const MAX_REASON = 64;
/** Twice what a registrar writes. */
const MAX_MESSAGE = 1_024;
/** The API server's record of who wrote which field, as text; a Node's has some 10,000 characters. */
const MAX_MANAGED_FIELDS = 131_072;

/**
 * Restricts a service account to its own Node, and there to removing the startup taints and setting the condition. All
 * other fields are compared without a list of them, so that fields of a later Kubernetes are frozen too. Of the metadata,
 * the API server itself changes three with each write. A registrar may not claim fields for another client
 * (managedFields): that client would remove them when it applies its objects again.
 */
function nodePolicy(
  { name, namespace }: Basics,
  { startupTaints, condition, drivers }: NodeAccessOptions,
): readonly Yaml[] {
  const isOurTaint = startupTaints.map((taint) => taintTest(taint, drivers)).join(" || ") || "false";
  const isOurCondition = condition === undefined ? "false" : nameTest("c.type", condition, drivers);
  return [
    yaml`
      # Confines that identity to its own node, and there to what it is for.
      ${object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", name)}
      spec:
        failurePolicy: Fail
        matchConstraints:
          resourceRules:
            - {apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [nodes, nodes/status]}
        matchConditions:
          - name: is-the-registrar
            expression: request.userInfo.username == "system:serviceaccount:${namespace}:${name}"
        variables:
          # In every token that is bound to a pod.
          - name: node
            expression: request.userInfo.?extra[?'authentication.kubernetes.io/node-name'][?0].orValue('')
          ${["metadata", "spec", "status"].flatMap((part) => [
            variable(part, `dyn(object).?${part}.orValue({})`),
            variable(`old_${part}`, `dyn(oldObject).?${part}.orValue({})`),
          ])}
          ${variable("taints", "variables.spec.?taints.orValue([])")}
          ${variable("oldTaints", "variables.old_spec.?taints.orValue([])")}
          ${variable("conditions", "variables.status.?conditions.orValue([])")}
          ${variable("oldConditions", "variables.old_status.?conditions.orValue([])")}
          ${variable("applied", "variables.metadata.?managedFields.orValue([]).filter(m, m.operation == 'Apply')")}
          ${variable("oldApplied", "variables.old_metadata.?managedFields.orValue([]).filter(m, m.operation == 'Apply')")}
        validations:
          ${validations(isOurTaint, isOurCondition)}
    `,
    yaml`
      ${object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", name)}
      spec:
        policyName: ${scalar(name)}
        validationActions: [Deny]
    `,
  ];
}

/** A token names its node since Kubernetes 1.30 (KEP-4193). `isOurTaint` tests `t`, `isOurCondition` tests `c`. */
const validations = (isOurTaint: string, isOurCondition: string) => yaml`
  - message: a registrar may change its own node only
    reason: Forbidden
    expression: variables.node == request.name
  - message: a registrar may add no taint and change none
    reason: Forbidden
    expression: variables.taints.all(t, t in variables.oldTaints)
  ${rule("remove its startup taints only", `variables.oldTaints.all(t, t in variables.taints || ${isOurTaint})`)}
  ${rule("set its own condition only", `variables.conditions.all(c, c in variables.oldConditions || ${isOurCondition})`)}
  # etcd takes 1.5 MB: without a limit, every later change of the Node would be refused.
  ${rule(
    `have ${MAX_CONDITIONS} conditions at most, with short texts`,
    `size(variables.conditions.filter(c, ${isOurCondition})) <= ${MAX_CONDITIONS} &&`,
    `  variables.conditions.all(c, c in variables.oldConditions || size(c.type) <= ${MAX_TYPE} &&`,
    `    size(c.?reason.orValue('')) <= ${MAX_REASON} && size(c.?message.orValue('')) <= ${MAX_MESSAGE})`,
  )}
  ${rule("remove no condition of others", `variables.oldConditions.all(c, c in variables.conditions || ${isOurCondition})`)}
  ${rule(
    "change nothing else of a node",
    "dyn(object).all(f, f in ['metadata', 'spec', 'status'] || dyn(object)[f] == dyn(oldObject)[f])",
  )}
  ${frozen("node", "metadata", "'managedFields', 'resourceVersion', 'generation'")}
  ${frozen("node", "spec", "'taints'")}
  ${frozen("node's status", "status", "'conditions'")}
  ${rule(
    "not fill the node's managedFields",
    `size('%s'.format([variables.metadata.?managedFields.orValue([])])) <= ${MAX_MANAGED_FIELDS}`,
  )}
  ${rule(
    "not claim a field for another client",
    "variables.applied.all(m, variables.oldApplied.exists(o, o.manager == m.manager &&",
    "  m.fieldsV1.all(k, k in o.fieldsV1 && (m.fieldsV1[k] == o.fieldsV1[k] || k == 'f:spec' &&",
    "    m.fieldsV1[k].all(f, f in o.fieldsV1[k] && m.fieldsV1[k][f] == o.fieldsV1[k][f])))))",
  )}
`;

const variable = (name: string, expression: string) => yaml`
  - name: ${name}
    expression: ${expression}
`;

/** A validation: requests for which the expression is false are refused. */
const rule = (only: string, ...expression: readonly string[]) => yaml`
  - message: a registrar may ${only}
    reason: Forbidden
    expression: |-
      ${expression.join("\n")}
`;

/** The validation that a part of the Node has the same fields as before, except some. */
function frozen(owner: string, part: string, except: string): Yaml {
  const [now, old] = [`variables.${part}`, `variables.old_${part}`];
  return rule(
    `change nothing else of a ${owner}`,
    `${now}.all(f, f in [${except}] || f in ${old} && ${now}[f] == ${old}[f]) &&`,
    `${old}.all(f, f in [${except}] || f in ${now})`,
  );
}

function taintTest({ key, effect }: StartupTaint, drivers: readonly string[] | undefined): string {
  const isKey = nameTest("t.key", key, drivers);
  return effect === undefined ? isKey : `(${isKey} && t.effect == '${effect}')`;
}

/** The test that a field is this name, with one of the drivers for `{driver}`; with any driver if there is no list. */
function nameTest(field: string, template: string, drivers: readonly string[] | undefined): string {
  if (!template.includes(DRIVER_PLACEHOLDER)) return `${field} == '${template}'`;
  if (drivers !== undefined)
    return `${field} in [${drivers.map((driver) => `'${fillIn(template, driver)}'`).join(", ")}]`;
  const isName = `${field}.matches('${patternOf(template)}')`;
  if (!dependsOnDriver(template)) return isName;
  return `(${isName} && (!${field}.matches('${OTHERS_PATTERN}') || ${field}.matches('${DRIVERS_PATTERN}')))`;
}
