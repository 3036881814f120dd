import { isDeepStrictEqual } from "node:util";
import { eventually } from "../../support/eventually";
import { runCommand } from "../../support/run-command";
import type { Cluster } from "./cluster";

export type PodSpec = Readonly<Record<string, unknown>>;
export type Changes = Readonly<Record<string, unknown>>;

const OFFICIAL = "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0";
/** The name that no chart changes: the policy takes its own work for a registrar, too. */
export const OURS = "example.com/csi-node-driver-registrar:v1";
export const IMAGE = `--image=${OURS}`;
export const DRIVER = { name: "driver", image: "driver:v1" };
export const PATHS = [
  "--csi-address=/csi/csi.sock",
  "--kubelet-registration-path=/var/lib/kubelet/plugins/x/csi.sock",
];
export const REGISTRAR = { name: "r", image: OFFICIAL, args: PATHS };
export const limits = (memory: string, cpu: string) => ({ resources: { limits: { memory, cpu } } });
export const PROGRAM = "/csi-node-driver-registrar";
export const PROBE = { exec: { command: [PROGRAM, "--mode=kubelet-registration-probe"] } };
export const onNodesWith = (term: object) => {
  const required = { nodeSelectorTerms: [term] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
};
/** A pod as the DaemonSet controller makes it: the node's name replaces all that the template says of nodes by affinity. */
export const onNode = (name: string, spec: PodSpec): PodSpec => ({
  ...spec,
  ...onNodesWith({ matchFields: [{ key: "metadata.name", operator: "In", values: [name] }] }),
});

/** Resolves when the policies of these namespaces are in force: seconds after the API server has stored them. */
export async function enforced(cluster: Cluster, ...namespaces: readonly string[]): Promise<void> {
  const pod = onNode("node-1", { containers: [DRIVER, REGISTRAR] });
  for (const namespace of namespaces)
    await eventually(async () => expect(await changesOf(cluster, namespace, pod)).not.toStrictEqual({}));
}

/** The version of CONTROL_PLANE_KUBERNETES where it is older, such as 1.34: the policies are written for it. */
const { CONTROL_PLANE_VERSION } = process.env;
const VERSION = CONTROL_PLANE_VERSION ? [`--kubernetes-version=${CONTROL_PLANE_VERSION}`] : [];

export async function applyPolicy(cluster: Cluster, namespace: string, ...flags: readonly string[]) {
  const words = ["--image-policy", ...VERSION, `--name=${namespace}`, `--namespace=${namespace}`, ...flags];
  const { stdout, stderr } = await runCommand("manifest", ...words);
  expect(stderr).toBe("");
  const objects = [
    `{apiVersion: v1, kind: Namespace, metadata: {name: ${namespace}}}`,
    `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: ${namespace}}}`,
  ];
  await cluster.apply([...objects, stdout].join("\n---\n"));
  return stdout;
}

export async function dryRun({ admin }: Cluster, namespace: string, spec: PodSpec, more: object = {}) {
  const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "pod", namespace, ...more }, spec };
  const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const answer = await admin.call({ method: "POST", path, body }, new AbortController().signal);
  if (answer.kind === "failed") throw new Error(answer.failure.message);
  return (answer.value as { readonly spec: PodSpec }).spec;
}

/** What the policy changes in a pod: beside the same pod that opts out. The token's random name is the same in both. */
export async function changesOf(
  cluster: Cluster,
  namespace: string,
  spec: PodSpec,
  more: object = {},
): Promise<Changes> {
  const optOut = { labels: { "registrar-image-policy": "ignore" } };
  const made = async (metadata: object) => {
    const text = JSON.stringify(await dryRun(cluster, namespace, spec, metadata));
    return JSON.parse(text.replace(/kube-api-access-\w+/g, "token"));
  };
  return changesBetween(await made({ ...more, ...optOut }), await made(more));
}

function changesBetween(before: unknown, after: unknown, path = ""): Changes {
  if (isDeepStrictEqual(before, after)) return {};
  const isTree = [before, after].every((value) => typeof value === "object" && value !== null);
  const isWords = [before, after].some((value) => Array.isArray(value) && typeof value[0] === "string");
  if (!isTree || isWords) return { [path]: after };
  const [one, other] = [before, after] as readonly Readonly<Record<string, unknown>>[];
  const keys = [...new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})])];
  return Object.assign(
    {},
    ...keys.map((key) => changesBetween(one?.[key], other?.[key], path === "" ? key : `${path}.${key}`)),
  );
}
