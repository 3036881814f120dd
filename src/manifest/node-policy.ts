import { DRIVER_PLACEHOLDER } from "../node-readiness/driver-template";
import type { StartupTaint } from "../node-readiness/startup-taint";
import type { Manifest } from "./manifest";

/** What the registrar's service account may change of a Node. */
export interface NodePolicyOptions {
  readonly startupTaints: readonly StartupTaint[];
  readonly condition: string | undefined;
  /** Undefined where `{driver}` may be any driver. */
  readonly driverName: string | undefined;
}

/** Fields of a Node beside the taints and the conditions: none of them is the registrar's. */
const METADATA = ["labels", "annotations", "finalizers", "ownerReferences"];
const SPEC = ["unschedulable", "podCIDR", "podCIDRs", "providerID", "configSource"];
const STATUS = [
  "capacity",
  "allocatable",
  "addresses",
  "daemonEndpoints",
  "nodeInfo",
  "images",
  "volumesInUse",
  "volumesAttached",
  "config",
  "runtimeHandlers",
  "features",
];

/**
 * Holds a service account to its own node, by the claim that a token bound to a pod carries (KEP-4193, Kubernetes 1.30),
 * and there to removing the startup taints and setting the condition.
 */
export function nodePolicy(
  name: string,
  namespace: string,
  { startupTaints, condition, driverName }: NodePolicyOptions,
): readonly Manifest[] {
  const isOurTaint = startupTaints.map((taint) => taintTest(taint, driverName)).join(" || ") || "false";
  const isOurCondition = condition === undefined ? "false" : nameTest("c.type", condition, driverName);
  const unchanged = (parent: string, fields: readonly string[]) =>
    fields.map((field) => `object.${parent}.?${field} == oldObject.${parent}.?${field}`).join(" && ");
  const validation = (expression: string, message: string) => ({ expression, message, reason: "Forbidden" });
  return [
    {
      about: [
        "Holds that identity to its own node, and there to what it is for. The node's name is in every token that is",
        "bound to a pod, from Kubernetes 1.30 on.",
      ],
      object: {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingAdmissionPolicy",
        metadata: { name },
        spec: {
          failurePolicy: "Fail",
          matchConstraints: {
            resourceRules: [
              {
                apiGroups: [""],
                apiVersions: ["v1"],
                operations: ["UPDATE"],
                resources: ["nodes", "nodes/status"],
              },
            ],
          },
          matchConditions: [
            {
              name: "is-the-registrar",
              expression: `request.userInfo.username == "system:serviceaccount:${namespace}:${name}"`,
            },
          ],
          variables: [
            {
              name: "node",
              expression:
                "request.userInfo.?extra[?'authentication.kubernetes.io/node-name'][?0].orValue('')",
            },
            { name: "taints", expression: "object.spec.?taints.orValue([])" },
            { name: "oldTaints", expression: "oldObject.spec.?taints.orValue([])" },
            { name: "conditions", expression: "object.?status.?conditions.orValue([])" },
            { name: "oldConditions", expression: "oldObject.?status.?conditions.orValue([])" },
          ],
          validations: [
            validation("variables.node == request.name", "a registrar may change its own node only"),
            validation(
              "variables.taints.all(t, t in variables.oldTaints)",
              "a registrar may add no taint and change none",
            ),
            validation(
              `variables.oldTaints.all(t, t in variables.taints || ${isOurTaint})`,
              "a registrar may remove its startup taints only",
            ),
            validation(
              `variables.conditions.all(c, c in variables.oldConditions || ${isOurCondition})`,
              "a registrar may set its own condition only",
            ),
            validation(
              `variables.oldConditions.all(c, c in variables.conditions || ${isOurCondition})`,
              "a registrar may remove no condition of others",
            ),
            validation(
              `${unchanged("metadata", METADATA)} && ${unchanged("spec", SPEC)}`,
              "a registrar may change nothing else of a node",
            ),
            validation(unchanged("status", STATUS), "a registrar may change nothing else of a node's status"),
          ],
        },
      },
    },
    {
      object: {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingAdmissionPolicyBinding",
        metadata: { name },
        spec: { policyName: name, validationActions: ["Deny"] },
      },
    },
  ];
}

function taintTest({ key, effect }: StartupTaint, driverName: string | undefined): string {
  const isKey = nameTest("t.key", key, driverName);
  return effect === undefined ? isKey : `(${isKey} && t.effect == '${effect}')`;
}

/** Whether a field is a name with `{driver}` in it; of any driver where none is named. */
function nameTest(field: string, name: string, driverName: string | undefined): string {
  if (driverName !== undefined || !name.includes(DRIVER_PLACEHOLDER))
    return `${field} == '${name.replaceAll(DRIVER_PLACEHOLDER, driverName ?? "")}'`;
  const pattern = name
    .split(DRIVER_PLACEHOLDER)
    .map((piece) => piece.replaceAll(".", "[.]"))
    .join("[-.a-zA-Z0-9]+");
  return `${field}.matches('^${pattern}$')`;
}
