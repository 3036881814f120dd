import { MAX_CONDITIONS } from "../node-readiness/condition";
import {
  DRIVER_PLACEHOLDER,
  DRIVERS_PATTERN,
  dependsOnDriver,
  fillIn,
  OTHERS_PATTERN,
  patternOf,
} from "../node-readiness/driver-template";
import type { StartupTaint } from "../node-readiness/startup-taint";
import type { ResolvedBasics } from "./options";
import { scalar, type Yaml, yaml } from "./template";

/** What the policy lets a registrar change. */
export interface NodePolicyOptions {
  /** As `--remove-startup-taint` takes them. */
  readonly startupTaints: readonly StartupTaint[];
  /** As `--node-condition` takes it. */
  readonly condition: string | undefined;
  /** The names that `{driver}` stands for. Undefined: any. */
  readonly drivers: readonly string[] | undefined;
}

/** The first minor version of Kubernetes 1 with the policy, and with the node's name in a pod's token (KEP-4193). */
export const POLICY_MINOR = 30;

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
export function nodePolicy(
  { name, namespace }: Pick<ResolvedBasics, "name" | "namespace">,
  { startupTaints, condition, drivers }: NodePolicyOptions,
): readonly Yaml[] {
  const isOurTaint = startupTaints.map((taint) => taintTest(taint, drivers)).join(" || ") || "false";
  const isOurCondition = condition === undefined ? "false" : nameTest("c.type", condition, drivers);
  return [
    yaml`
      # Confines that identity to its own node, and there to what it is for. It needs Kubernetes 1.${POLICY_MINOR}: older clusters
      # do not know this object, and there the rights below are for every node.
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingAdmissionPolicy
      metadata:
        name: ${scalar(name)}
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
          - name: metadata
            expression: dyn(object).?metadata.orValue({})
          - name: oldMetadata
            expression: dyn(oldObject).?metadata.orValue({})
          - name: spec
            expression: dyn(object).?spec.orValue({})
          - name: oldSpec
            expression: dyn(oldObject).?spec.orValue({})
          - name: status
            expression: dyn(object).?status.orValue({})
          - name: oldStatus
            expression: dyn(oldObject).?status.orValue({})
          - name: taints
            expression: variables.spec.?taints.orValue([])
          - name: oldTaints
            expression: variables.oldSpec.?taints.orValue([])
          - name: conditions
            expression: variables.status.?conditions.orValue([])
          - name: oldConditions
            expression: variables.oldStatus.?conditions.orValue([])
          - name: applied
            expression: variables.metadata.?managedFields.orValue([]).filter(m, m.operation == 'Apply')
          - name: oldApplied
            expression: variables.oldMetadata.?managedFields.orValue([]).filter(m, m.operation == 'Apply')
        validations:
          - message: a registrar may change its own node only
            reason: Forbidden
            expression: variables.node == request.name
          - message: a registrar may add no taint and change none
            reason: Forbidden
            expression: variables.taints.all(t, t in variables.oldTaints)
          - message: a registrar may remove its startup taints only
            reason: Forbidden
            expression: |-
              variables.oldTaints.all(t, t in variables.taints || ${isOurTaint})
          - message: a registrar may set its own condition only
            reason: Forbidden
            expression: |-
              variables.conditions.all(c, c in variables.oldConditions || ${isOurCondition})
          # etcd takes 1.5 MB: without a limit, every later change of the Node would be refused.
          - message: a registrar may have ${MAX_CONDITIONS} conditions at most, with short texts
            reason: Forbidden
            expression: |-
              size(variables.conditions.filter(c, ${isOurCondition})) <= ${MAX_CONDITIONS} &&
                variables.conditions.all(c, c in variables.oldConditions || size(c.type) <= ${MAX_TYPE} &&
                  size(c.?reason.orValue('')) <= ${MAX_REASON} && size(c.?message.orValue('')) <= ${MAX_MESSAGE})
          - message: a registrar may remove no condition of others
            reason: Forbidden
            expression: |-
              variables.oldConditions.all(c, c in variables.conditions || ${isOurCondition})
          - message: a registrar may change nothing else of a node
            reason: Forbidden
            expression: |-
              dyn(object).all(f, f in ['metadata', 'spec', 'status'] || dyn(object)[f] == dyn(oldObject)[f])
          ${frozen("node", "metadata", "oldMetadata", "managedFields", "resourceVersion", "generation")}
          ${frozen("node", "spec", "oldSpec", "taints")}
          ${frozen("node's status", "status", "oldStatus", "conditions")}
          - message: a registrar may not fill the node's managedFields
            reason: Forbidden
            expression: |-
              size('%s'.format([variables.metadata.?managedFields.orValue([])])) <= ${MAX_MANAGED_FIELDS}
          - message: a registrar may not claim a field for another client
            reason: Forbidden
            expression: |-
              variables.applied.all(m, variables.oldApplied.exists(o, o.manager == m.manager &&
                m.fieldsV1.all(k, k in o.fieldsV1 && (m.fieldsV1[k] == o.fieldsV1[k] || k == 'f:spec' &&
                  m.fieldsV1[k].all(f, f in o.fieldsV1[k] && m.fieldsV1[k][f] == o.fieldsV1[k][f])))))
    `,
    yaml`
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingAdmissionPolicyBinding
      metadata:
        name: ${scalar(name)}
      spec:
        policyName: ${scalar(name)}
        validationActions: [Deny]
    `,
  ];
}

/** The validation that a part of the Node has the same fields as before, except some. */
function frozen(whose: string, part: string, oldPart: string, ...except: readonly string[]): Yaml {
  const [now, old] = [`variables.${part}`, `variables.${oldPart}`];
  const list = `[${except.map((field) => `'${field}'`).join(", ")}]`;
  return yaml`
    - message: a registrar may change nothing else of a ${whose}
      reason: Forbidden
      expression: |-
        ${now}.all(f, f in ${list} || f in ${old} && ${now}[f] == ${old}[f]) &&
        ${old}.all(f, f in ${list} || f in ${now})
  `;
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
