import { useCluster } from "./support/cluster";
import {
  applyPolicy,
  type Changes,
  changesOf,
  DRIVER,
  dryRun,
  enforced,
  IMAGE,
  limits,
  OURS,
  onNode,
  PATHS,
  type PodSpec,
  PROBE,
  REGISTRAR,
  swapped,
  withDriver,
} from "./support/dry-pods";

/** Several: the API server evaluates the two policies of each in an order that it draws by lot. */
const LIMITED = Array.from({ length: 6 }, (_, at) => `limited-${at}`);
/** As many as the command takes, with names as long as those of EKS. */
const MANY = [
  "node-1",
  ...Array.from({ length: 2_125 }, (_, at) => `ip-10-0-${at}.us-west-2.compute.internal`.padStart(41, "x")),
];
const cluster = useCluster(async (started) => {
  await applyPolicy(started, "swap", IMAGE, "--match-image=sidecar");
  await applyPolicy(started, "kept", IMAGE, "--keep=memory,cpu", "--keep=probe-timeouts");
  await applyPolicy(started, "ready", IMAGE, "--startup-taint={driver}/x", "--node-condition={driver}/Ready");
  await applyPolicy(started, "others", IMAGE, "--namespace-label=team=network");
  await applyPolicy(started, "team", IMAGE, "--namespace-label=team=storage");
  const hosts = ["plugin=9810", "other=9811"].map((one) => `--metrics-port=host:metered/${one}`);
  await applyPolicy(started, "metered", IMAGE, "--metrics-port=9809", ...hosts);
  await applyPolicy(started, "staged", IMAGE, "--nodes=node/node-1,worker-7");
  await applyPolicy(started, "many", IMAGE, `--nodes=${MANY}`);
  for (const namespace of LIMITED) {
    await applyPolicy(started, namespace, namespace === "limited-0" ? "--image=example.com/r:v1" : IMAGE);
    const ranges = ["{memory: 50Mi}", "{cpu: 30m}", "{ephemeral-storage: 1Gi}"].map(
      (max, at) =>
        `{apiVersion: v1, kind: LimitRange, metadata: {name: r${at}, namespace: ${namespace}}, ` +
        `spec: {limits: [{type: Container, max: ${max}}]}}`,
    );
    await started.apply(ranges.join("\n---\n"));
  }
  await enforced(started, "swap", "kept", "ready", "team", "staged", "metered", "many", ...LIMITED);
});

const SWAPPED = { "containers.1.image": OURS };
const DIGEST = `sha256:${"0".repeat(64)}`;
const REGISTRARS = [
  ...["csi-node-driver-registrar", "localhost:5000/csi-node-driver-registrar"],
  ...["calico/node-driver-registrar:v3.30.3", "anything.example.com/sidecar:v1"],
  "rancher/mirrored-longhornio-csi-node-driver-registrar:v2.16.0-20260428",
  "quay.io/openshift/origin-csi-node-driver-registrar:latest",
  `registry.redhat.io/openshift4/ose-csi-node-driver-registrar@${DIGEST}`,
  "registry.redhat.io/openshift4/ose-csi-node-driver-registrar-rhel9:v4.19",
  "cgr.dev/x/kubernetes-csi-node-driver-registrar-fips:2.15",
  `registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0@${DIGEST}`,
];
const OTHERS = [
  ...[
    "csi-cluster-driver-registrar:v1",
    "csi-node-driver-win-registrar:v1",
    "my-sidecar:v1",
    "sidecar:5000/x:1",
  ],
  ...["registry.k8s.io/sig-storage/livenessprobe:v2.19.0", "quay.io/k8scsi/driver-registrar:v0.4.1"],
  "csi-node-driver-registrar/other:v1",
];

test.each([...REGISTRARS, ...OTHERS])("the image %s", async (image) => {
  const changes = await changesOf(cluster, "swap", withDriver({ ...REGISTRAR, image }));
  expect(changes).toEqual(REGISTRARS.includes(image) ? SWAPPED : {});
});

test("--keep leaves limits and probes as they are", async () => {
  const spec = withDriver({ ...REGISTRAR, ...limits("32Mi", "20m"), livenessProbe: PROBE });
  expect(await changesOf(cluster, "kept", spec)).toEqual(SWAPPED);
});

test.each(LIMITED)("%s: limits rise to what every LimitRange of the namespace allows", async (namespace) => {
  for (const given of [limits("32Mi", "20m"), limits("50Mi", "30m")]) {
    const spec = { containers: [{ ...REGISTRAR, ...given }] };
    const { containers } = await dryRun(cluster, namespace, spec);
    const image = namespace === "limited-0" ? "example.com/r:v1" : OURS;
    expect(containers).toMatchObject([{ image, ...limits("50Mi", "30m") }]);
  }
});

test("namespaces are chosen by a label too", async () => {
  expect(await changesOf(cluster, "team", withDriver(REGISTRAR))).toEqual(SWAPPED);
  expect(await changesOf(cluster, "others", withDriver(REGISTRAR))).toEqual({});
});

test.each<readonly [node: string, namespace: string, Changes]>([
  ["node-1", "staged", SWAPPED],
  ["worker-7", "staged", SWAPPED],
  ["worker-70", "staged", {}],
  ["node-1", "many", SWAPPED],
  [MANY.at(-1) ?? "", "many", SWAPPED],
  ["node-2", "many", {}],
])("--nodes: the pod of a DaemonSet on %s, in namespace %s", async (node, namespace, changes) => {
  expect(await changesOf(cluster, namespace, onNode(node, withDriver(REGISTRAR)))).toEqual(changes);
});

test("--nodes: the pod of a Deployment has no node's name yet, and is left alone", async () => {
  expect(await changesOf(cluster, "staged", withDriver(REGISTRAR))).toEqual({});
});

const PORT = { name: "registrar", containerPort: 9809, protocol: "TCP" };
const METERED = { ...swapped(1, ["--http-endpoint=:9809", ...PATHS]), "containers.1.ports": [PORT] };
const HOST = { hostNetwork: true };
const OWN_PORT = { name: "own", containerPort: 1, protocol: "TCP" };

test.each<readonly [string, PodSpec, owner: string, Changes]>([
  ["a pod with its own network", withDriver(REGISTRAR), "plugin", METERED],
  [
    "other ports of the registrar",
    withDriver({ ...REGISTRAR, ports: [OWN_PORT] }),
    "",
    { ...swapped(1, ["--http-endpoint=:9809", ...PATHS]), "containers.1.ports.1": PORT },
  ],
  [
    "a native sidecar",
    { ...withDriver(), initContainers: [{ ...REGISTRAR, restartPolicy: "Always" }] },
    "",
    {
      ...swapped(0, ["--http-endpoint=:9809", ...PATHS], "initContainers"),
      "initContainers.0.ports": [PORT],
    },
  ],
  ["two", withDriver(REGISTRAR, { ...REGISTRAR, name: "s" }), "", { ...SWAPPED, "containers.2.image": OURS }],
  ["an endpoint", withDriver({ ...REGISTRAR, args: ["--http-endpoint=:1"] }), "", SWAPPED],
  ["the old flag", withDriver({ ...REGISTRAR, args: ["-health-port", "1"] }), "", SWAPPED],
  ["this name", withDriver({ ...REGISTRAR, ports: [{ ...OWN_PORT, name: "registrar" }] }), "", SWAPPED],
  [
    "another container with the port",
    withDriver(REGISTRAR, { ...DRIVER, name: "probe", ports: [{ containerPort: 9809 }] }),
    "",
    SWAPPED,
  ],
  ["a listener there", withDriver(REGISTRAR, { ...DRIVER, name: "probe", args: ["--p=:9809"] }), "", SWAPPED],
  ["the host's network, and no port for it", { ...withDriver(REGISTRAR), ...HOST }, "third", SWAPPED],
  [
    "the host's network",
    { ...withDriver(REGISTRAR), ...HOST },
    "plugin",
    {
      ...swapped(1, ["--http-endpoint=:9810", ...PATHS]),
      "containers.1.ports": [{ ...PORT, containerPort: 9810, hostPort: 9810 }],
    },
  ],
  [
    "the host's network, and a driver with the port",
    { containers: [{ ...DRIVER, ports: [{ containerPort: 9811 }] }, REGISTRAR], ...HOST },
    "other",
    SWAPPED,
  ],
])("--metrics-port: %s", async (_what, spec, name, changes) => {
  const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name, uid: "u", controller: true };
  const metadata = name === "" ? {} : { ownerReferences: [owner] };
  expect(await changesOf(cluster, "metered", spec, metadata)).toEqual(changes);
});

const READY = ["--remove-startup-taint={driver}/x", "--node-condition={driver}/Ready"];
const NODE_NAME = {
  name: "NODE_NAME",
  valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "spec.nodeName" } },
};
const ENV = { name: "A", value: "b" };

test.each<readonly [string, PodSpec, Changes]>([
  ["token", withDriver(REGISTRAR), { ...swapped(1, [...READY, ...PATHS]), "containers.1.env": [NODE_NAME] }],
  [
    "variables of its own",
    withDriver({ ...REGISTRAR, env: [ENV] }),
    { ...swapped(1, [...READY, ...PATHS]), "containers.1.env.1": NODE_NAME },
  ],
  [
    "the node's name",
    withDriver({ ...REGISTRAR, env: [{ ...NODE_NAME, name: "KUBE_NODE_NAME" }] }),
    swapped(1, [...READY, ...PATHS]),
  ],
  ["no token", { ...withDriver(REGISTRAR), automountServiceAccountToken: false }, SWAPPED],
])("with %s: what the node's readiness needs", async (_what, spec, changes) => {
  expect(await changesOf(cluster, "ready", spec)).toEqual(changes);
});
