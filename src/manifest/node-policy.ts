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

/** Fields of a Node's metadata that the API server itself may change with each write. */
const OF_THE_SERVER = ["managedFields", "resourceVersion", "generation"];

/**
 * Confines a service account to its own Node, and there to removing the startup taints and setting the condition.
 * Everything else is compared field by field without a list of fields: what a later Kubernetes adds is frozen too.
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
            - apiGroups:
                - ""
              apiVersions:
                - v1
              operations:
                - UPDATE
              resources:
                - nodes
                - nodes/status
        matchConditions:
          - name: is-the-registrar
            expression: request.userInfo.username == "system:serviceaccount:${namespace}:${name}"
        variables:
          # In every token that is bound to a pod.
          - name: node
            expression: request.userInfo.?extra[?'authentication.kubernetes.io/node-name'][?0].orValue('')
          ${PARTS.flatMap((part) => [
            variable(part, `dyn(object).?${part}.orValue({})`),
            variable(oldOf(part), `dyn(oldObject).?${part}.orValue({})`),
          ])}
          ${listVariables("taints", "spec", "?taints.orValue([])")}
          ${listVariables("conditions", "status", "?conditions.orValue([])")}
          ${listVariables("applied", "metadata", "?managedFields.orValue([]).filter(m, m.operation == 'Apply')")}
        validations:
          ${[
            validation("a registrar may change its own node only", "variables.node == request.name"),
            validation(
              "a registrar may add no taint and change none",
              "variables.taints.all(t, t in variables.oldTaints)",
            ),
            validation(
              "a registrar may remove its startup taints only",
              `variables.oldTaints.all(t, t in variables.taints || ${isOurTaint})`,
            ),
            validation(
              "a registrar may set its own condition only",
              `variables.conditions.all(c, c in variables.oldConditions || ${isOurCondition})`,
            ),
            validation(
              "a registrar may remove no condition of others",
              `variables.oldConditions.all(c, c in variables.conditions || ${isOurCondition})`,
            ),
            validation(
              "a registrar may change nothing else of a node",
              "dyn(object).all(f, f in ['metadata', 'spec', 'status'] || dyn(object)[f] == dyn(oldObject)[f])",
              frozen("metadata", OF_THE_SERVER),
              frozen("spec", ["taints"]),
            ),
            validation(
              "a registrar may change nothing else of a node's status",
              frozen("status", ["conditions"]),
            ),
            // Whoever is said to have applied a field loses it when he applies his objects again.
            validation(
              "a registrar may say of nobody that he applied something",
              [
                "variables.applied.all(m, variables.oldApplied.exists(o, o.manager == m.manager &&",
                "  m.fieldsV1.all(k, k in o.fieldsV1 && (m.fieldsV1[k] == o.fieldsV1[k] || k == 'f:spec' &&",
                "    m.fieldsV1[k].all(f, f in o.fieldsV1[k] && m.fieldsV1[k][f] == o.fieldsV1[k][f])))))",
              ].join("\n"),
            ),
          ]}
    `,
    yaml`
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingAdmissionPolicyBinding
      metadata:
        name: ${scalar(name)}
      spec:
        policyName: ${scalar(name)}
        validationActions:
          - Deny
    `,
  ];
}

/** One validation; every test, of one or more lines, must hold. */
const validation = (message: string, ...tests: readonly string[]): Yaml => {
  const lines = tests.join(" &&\n").split("\n");
  return yaml`
    - expression: |-
        ${{ lines }}
      message: ${message}
      reason: Forbidden
  `;
};

/** The test that all fields of a part of the Node are what they were, except some. */
function frozen(part: Part, but: readonly string[]): string {
  const [now, old] = [`variables.${part}`, `variables.${oldOf(part)}`];
  const list = `[${but.map((field) => `'${field}'`).join(", ")}]`;
  return [
    `${now}.all(f, f in ${list} || f in ${old} && ${now}[f] == ${old}[f]) &&`,
    `${old}.all(f, f in ${list} || f in ${now})`,
  ].join("\n");
}

const PARTS = ["metadata", "spec", "status"] as const;
type Part = (typeof PARTS)[number];

const oldOf = (name: string) => `old${name.charAt(0).toUpperCase()}${name.slice(1)}`;
const variable = (name: string, expression: string) => yaml`
  - name: ${name}
    expression: ${expression}
`;
const listVariables = (name: string, part: Part, expression: string) => [
  variable(name, `variables.${part}.${expression}`),
  variable(oldOf(name), `variables.${oldOf(part)}.${expression}`),
];

function taintTest({ key, effect }: StartupTaint, drivers: readonly string[] | undefined): string {
  const isKey = nameTest("t.key", key, drivers);
  return effect === undefined ? isKey : `(${isKey} && t.effect == '${effect}')`;
}

/** Whether a field is a name with `{driver}` in it; of any driver where none is named. */
function nameTest(field: string, template: string, drivers: readonly string[] | undefined): string {
  if (!template.includes(DRIVER_PLACEHOLDER)) return `${field} == '${template}'`;
  if (drivers !== undefined)
    return `${field} in [${drivers.map((driver) => `'${fillIn(template, driver)}'`).join(", ")}]`;
  const isName = `${field}.matches('${patternOf(template)}')`;
  if (!dependsOnDriver(template)) return isName;
  return `(${isName} && (!${field}.matches('${OTHERS_PATTERN}') || ${field}.matches('${DRIVERS_PATTERN}')))`;
}
