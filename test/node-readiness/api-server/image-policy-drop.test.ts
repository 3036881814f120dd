import { eventually } from "../../support/eventually";
import { useCluster } from "./support/cluster";
import { applyPolicy, dryRun, IMAGE, OURS, onNode, type PodSpec } from "./support/dry-pods";

const cluster = useCluster(async (started) => {
  for (const [namespace, ...flags] of [["some", "--nodes=node-1,node-3"], ["drop"]] as const)
    for (const include of ["daemonset", "policy"])
      await applyPolicy(started, namespace, "--drop", IMAGE, `--include=${include}`, ...flags);
  await eventually(async () =>
    expect((await dryRun(started, "drop", pod([DRIVER, served("r")]))).containers).toHaveLength(1),
  );
});

interface Container {
  readonly name: string;
}
const pod = (containers: readonly Container[], initContainers: readonly Container[] = []): PodSpec => ({
  containers,
  initContainers,
});
const DRIVER = { name: "driver", image: "driver:v1" };
const registrar = (name: string, path: string, more = {}) => ({
  name,
  image: "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0",
  args: ["--csi-address=/csi/csi.sock", `--kubelet-registration-path=${path}`],
  ...more,
});
const PLUGINS = "/var/lib/kubelet/plugins";
const served = (name: string, more = {}) => registrar(name, `${PLUGINS}/x.csi/csi.sock`, more);
const sidecar = { restartPolicy: "Always" };

test.each<readonly [string, PodSpec, left: string]>([
  ["the registrar goes", pod([served("r"), DRIVER]), "driver"],
  [
    "each of several goes, whatever is between them",
    pod(
      [served("a"), DRIVER, served("b"), { ...DRIVER, name: "last" }, served("c")],
      [
        { ...DRIVER, name: "first" },
        served("d", sidecar),
        served("e", sidecar),
        { ...DRIVER, name: "second" },
      ],
    ),
    "first second driver last",
  ],
  [
    "its path may be a word of its own, or a variable",
    pod([
      DRIVER,
      registrar("a", "", { args: ["--kubelet-registration-path", `${PLUGINS}/x/csi.sock`] }),
      registrar("b", "$(SOCKET)", { env: [{ name: "SOCKET", value: `${PLUGINS}/y/csi.sock` }] }),
    ]),
    "driver",
  ],
  ["one whose driver is deeper stays", pod([DRIVER, registrar("r", `${PLUGINS}/a/b/csi.sock`)]), "driver r"],
  ["one with another socket stays", pod([DRIVER, registrar("r", `${PLUGINS}/a/x.sock`)]), "driver r"],
  ["one under another root stays", pod([DRIVER, registrar("r", `/k${PLUGINS}/a/csi.sock`)]), "driver r"],
  ["one of the whole node stays", pod([DRIVER, registrar("r", `${PLUGINS}/*/csi.sock`)]), "driver r"],
  [
    "one with an image of another name stays, as what the other policy has swapped",
    pod([DRIVER, served("r", { image: "example.com/registrar:v1" })]),
    "driver r",
  ],
  ["a pod is never left empty", pod([served("r")]), "r"],
  [
    "one whose driver's socket another variable names stays",
    pod([DRIVER, registrar("r", "/x/csi.sock", { env: [{ name: "A", value: `${PLUGINS}/y/csi.sock` }] })]),
    "driver r",
  ],
  [
    "one whose address alone is such a path stays",
    pod([
      DRIVER,
      registrar("r", "", {
        args: [`--csi-address=${PLUGINS}/x/csi.sock`, "-kubelet-registration-path=/x/csi.sock"],
      }),
    ]),
    "driver r",
  ],
  [
    "a flag with one dash is the same",
    pod([DRIVER, registrar("r", "", { args: [`-kubelet-registration-path=${PLUGINS}/x/csi.sock`] })]),
    "driver",
  ],
  ["60 containers", pod([DRIVER, ...Array.from({ length: 59 }, (_, at) => served(`r${at}`))]), "driver"],
])("%s", async (_what, spec, left) => {
  const { containers, initContainers = [] } = await dryRun(cluster, "drop", spec);
  const names = [initContainers, containers].flatMap((list) =>
    (list as readonly Container[]).map(({ name }) => name),
  );
  expect(names.join(" ")).toBe(left);
});

test("--nodes: the registrars of other nodes stay", async () => {
  const left = async (node: string) =>
    (await dryRun(cluster, "some", onNode(node, pod([DRIVER, served("r")])))).containers;
  await eventually(async () => expect(await left("node-1")).toMatchObject([{ name: "driver" }]));
  expect(await left("node-2")).toHaveLength(2);
});

test("one with an AppArmor profile in an annotation stays, as the API server refuses a profile of no container", async () => {
  const annotations = { "container.apparmor.security.beta.kubernetes.io/a": "runtime/default" };
  const { containers } = await dryRun(cluster, "drop", pod([DRIVER, served("a"), served("b")]), {
    annotations,
  });
  expect(containers).toMatchObject([{ name: "driver" }, { name: "a" }]);
});

test("the policy leaves the registrar of the whole node alone", async () => {
  const words = ["get", "daemonset", "csi-registrar", "--namespace=kube-system", "-o", "json"];
  const { spec } = JSON.parse(await cluster.controlPlane.kubectl(...words)).spec.template;
  const { containers, volumes } = spec;
  expect((await dryRun(cluster, "drop", { containers, volumes })).containers).toMatchObject([
    { image: OURS },
  ]);
});
