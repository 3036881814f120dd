import { SERVICE_ACCOUNT_FOLDER } from "../node-readiness/api/access";
import { DRIVER_PLACEHOLDER } from "../node-readiness/driver-template";
import { neededRules } from "../node-readiness/rbac";
import type { StartupTaint } from "../node-readiness/startup-taint";
import { POD } from "./daemon-set";
import type { Manifest } from "./manifest";
import { nodePolicy } from "./node-policy";

/** What a registrar needs that removes startup taints or keeps a condition. */
export interface NodeReadinessManifestOptions {
  /** As `--remove-startup-taint` takes them. */
  readonly startupTaints: readonly StartupTaint[];
  /** As `--node-condition` takes it. */
  readonly condition: string | undefined;
  /** Undefined where one registrar serves every driver of a node: then `{driver}` stays as it is. */
  readonly driverName: string | undefined;
  /** Whether to write a rule for the node readiness controller; needs a condition of one driver. */
  readonly readinessRule: boolean;
}

/** The parts of a DaemonSet that are changed. */
interface DaemonSetSpec {
  readonly template: {
    readonly spec: {
      readonly containers: readonly { readonly name: string; readonly [field: string]: unknown }[];
      readonly volumes: readonly object[];
    };
  };
}

/**
 * The same objects, their DaemonSet's registrar told what to remove and to keep and given a token, and in front of them
 * what the token may do. Without a DaemonSet among them they stay as they are.
 */
export function withNodeReadiness(
  manifests: readonly Manifest[],
  options: NodeReadinessManifestOptions,
): readonly Manifest[] {
  const daemonSet = manifests.find(({ object }) => object.kind === "DaemonSet");
  if (daemonSet === undefined) return manifests;
  const { name, namespace = "default" } = daemonSet.object.metadata;
  return [
    ...serviceAccount(name, namespace, options),
    ...nodePolicy(name, namespace, options),
    ...manifests.map((manifest) => (manifest === daemonSet ? grantAccess(manifest, options) : manifest)),
    ...readinessRule(name, options),
  ];
}

function serviceAccount(
  name: string,
  namespace: string,
  { startupTaints, condition }: NodeReadinessManifestOptions,
): readonly Manifest[] {
  const rules = neededRules({ taints: startupTaints.length > 0, condition: condition !== undefined });
  return [
    {
      about: ["The registrar's identity at the API server."],
      object: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
    },
    {
      about: ['What it may do. RBAC cannot say "to its own node": the policy below does.'],
      object: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules },
    },
    {
      object: {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
        subjects: [{ kind: "ServiceAccount", name, namespace }],
      },
    },
  ];
}

/** The registrar alone gets the token: no other container of the pod has any use for it. */
function grantAccess(
  { about = [], object, comments = {} }: Manifest,
  options: NodeReadinessManifestOptions,
): Manifest {
  const { template, ...spec } = object.spec as DaemonSetSpec;
  const { containers, volumes, ...podSpec } = template.spec;
  const place = containers.findIndex(({ name }) => name === "registrar");
  const { name, image, args, volumeMounts, ...rest } = containers[place] ?? { name: "registrar" };
  const registrar = {
    name,
    image,
    args: [...(args as readonly string[]), ...argsOf(options)],
    env: [{ name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
    ...rest,
    volumeMounts: [
      ...(volumeMounts as readonly object[]),
      { name: "api-access", mountPath: SERVICE_ACCOUNT_FOLDER, readOnly: true },
    ],
  };
  const apiAccess = {
    name: "api-access",
    projected: {
      sources: [
        { serviceAccountToken: { path: "token", expirationSeconds: 3600 } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      ],
    },
  };
  const newSpec = {
    ...spec,
    template: {
      ...template,
      spec: {
        ...podSpec,
        serviceAccountName: object.metadata.name,
        containers: containers.map((container, index) => (index === place ? registrar : container)),
        volumes: [...volumes, apiAccess],
      },
    },
  };
  return {
    about: about.map((line) =>
      line.replace("No RBAC: neither is given a token.", "Only the registrar is given a token."),
    ),
    object: { ...object, spec: newSpec },
    comments: {
      ...comments,
      [`${POD}.volumes.${volumes.length}`]:
        "The token is bound to the pod, and so says which node it is on. Only the registrar has it.",
    },
  };
}

function argsOf({ startupTaints, condition }: NodeReadinessManifestOptions): readonly string[] {
  return [
    ...startupTaints.map(
      ({ key, effect }) => `--remove-startup-taint=${key}${effect === undefined ? "" : `:${effect}`}`,
    ),
    ...(condition === undefined ? [] : [`--node-condition=${condition}`]),
  ];
}

/** For clusters with the node readiness controller of kubernetes-sigs. */
function readinessRule(
  name: string,
  { condition, driverName, readinessRule: isWanted }: NodeReadinessManifestOptions,
): readonly Manifest[] {
  if (!isWanted || condition === undefined || driverName === undefined) return [];
  return [
    {
      about: [
        "The node readiness controller keeps a taint on each node whose condition is not True. With bootstrap-only it",
        "goes for good once it was.",
      ],
      object: {
        apiVersion: "readiness.node.x-k8s.io/v1alpha1",
        kind: "NodeReadinessRule",
        metadata: { name },
        spec: {
          conditions: [
            { type: condition.replaceAll(DRIVER_PLACEHOLDER, driverName), requiredStatus: "True" },
          ],
          enforcementMode: "continuous",
          taint: { key: `readiness.k8s.io/${name}`, value: "pending", effect: "NoSchedule" },
          nodeSelector: { matchLabels: { "kubernetes.io/os": "linux" } },
        },
      },
    },
  ];
}
