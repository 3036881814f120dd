import { PODS } from "../../charts/pods";
import { useCluster } from "./support/cluster";
import {
  applyPolicy,
  type Changes,
  changesOf,
  enforced,
  IMAGE,
  OURS,
  onNode,
  type PodSpec,
} from "./support/dry-pods";

const RETRY = "--on-registration-failure=retry";

const cluster = useCluster(async (started) => {
  await applyPolicy(started, "charts", IMAGE, `--arg=${RETRY}`, "--metrics-port=9809");
  await enforced(started, "charts");
});

interface Container extends Readonly<Record<"name" | "image", string>> {
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly envFrom?: readonly object[];
  readonly volumeMounts?: readonly { readonly name: string }[];
  readonly resources?: { readonly limits?: { readonly memory?: string } };
  readonly livenessProbe?: { readonly exec?: object; readonly timeoutSeconds?: number };
  readonly ports?: readonly { readonly containerPort: number }[];
}
interface Template {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly hostPath?: object }[];
  readonly hostNetwork?: boolean;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly serviceAccount?: string;
  readonly serviceAccountName?: string;
}
interface Workload {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template: { readonly spec: Template } };
}

const WORKLOADS = PODS.flatMap(({ project, path, workloads }) =>
  (workloads as readonly Workload[]).map(
    ({ kind, metadata, spec }) => [`${project} ${path} ${metadata.name}`, kind, spec.template.spec] as const,
  ),
);

/** The names of Secrets and ConfigMaps, which the rows leave out, and their volumes: the API server insists on them. */
function completed({ containers, initContainers = [], volumes = [], ...rest }: Template): PodSpec {
  const complete = ({ envFrom: _, resources, ...container }: Container) => ({
    ...container,
    resources: JSON.stringify(resources)?.includes("{{") ? undefined : resources,
    env: container.env?.map(({ valueFrom, ...variable }) =>
      valueFrom && "fieldRef" in valueFrom ? { ...variable, valueFrom } : variable,
    ),
  });
  const mounted = [...containers, ...initContainers].flatMap(({ volumeMounts = [] }) => volumeMounts);
  const names = new Set([...volumes, ...mounted].map(({ name }) => name));
  const known = new Map(volumes.map((volume) => [volume.name, volume]));
  return {
    ...rest,
    containers: containers.map(complete),
    initContainers: initContainers.map(complete),
    volumes: [...names].map((name) => (known.get(name)?.hostPath ? known.get(name) : { name, emptyDir: {} })),
  };
}

function podOf(kind: string, { serviceAccount: _, serviceAccountName: __, ...rest }: Template): PodSpec {
  const template = completed(rest);
  return kind === "DaemonSet" ? onNode("node-1", template) : template;
}

/** What the policy is for, said once more: in words that the API server does not know. */
function expectedChanges(template: Template): Changes {
  if (isForWindows(template)) return {};
  const { containers, initContainers = [] } = template;
  return Object.assign(
    {},
    ...containers.map(swapOf("containers", getsPort(template))),
    ...initContainers.map(swapOf("initContainers", getsPort(template))),
  );
}

const isRegistrar = ({ image }: Container) => /\bcsi-node-driver-registrar(?:[:@]|$)/.test(image);
const ENDPOINT = "--http-endpoint=:9809";
const PORT = { name: "registrar", containerPort: 9809, protocol: "TCP" };

/** Whether the pod has a network of its own, one registrar without an endpoint, and nothing at the port. */
function getsPort({ containers, initContainers = [], hostNetwork = false }: Template): boolean {
  const all = [...containers, ...initContainers];
  const registrars = all.filter(isRegistrar);
  const hasEndpoint = /"--?(?:http-endpoint|health-port)/.test(JSON.stringify(registrars));
  return !hostNetwork && registrars.length === 1 && !hasEndpoint && !/\b9809\b/.test(JSON.stringify(all));
}

const swapOf = (list: string, hasPort: boolean) => (container: Container, at: number) => {
  const { args = [], resources, livenessProbe, ports } = container;
  if (!isRegistrar(container)) return {};
  const changed = (path: string, value: unknown, isChanged = true) =>
    isChanged ? { [`${list}.${at}.${path}`]: value } : {};
  const isLittle = ["20Mi", "30Mi", "32Mi", "40Mi", "50Mi"].includes(resources?.limits?.memory ?? "");
  const isShort = livenessProbe?.exec !== undefined && (livenessProbe.timeoutSeconds ?? 1) < 10;
  return {
    ...changed("image", OURS),
    ...changed("args", [RETRY, ...(hasPort ? [ENDPOINT] : []), ...args]),
    ...(ports === undefined
      ? changed("ports", [PORT], hasPort)
      : changed(`ports.${ports.length}`, PORT, hasPort)),
    ...changed("resources.limits.memory", "64Mi", isLittle),
    ...changed("livenessProbe.timeoutSeconds", 10, isShort),
  };
};

test.each(WORKLOADS)(
  "%s: each registrar for Linux is changed, and nothing else",
  async (_name, kind, template) => {
    expect(await changesOf(cluster, "charts", podOf(kind, template))).toEqual(expectedChanges(template));
  },
);

const isForWindows = ({ nodeSelector }: Template) => nodeSelector?.["kubernetes.io/os"] === "windows";
