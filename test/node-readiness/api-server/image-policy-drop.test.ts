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
const pod = (containers: readonly Container[]): PodSpec => ({ containers });
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
const [FIRST, SECOND] = ["first", "second"].map((name) => ({ ...DRIVER, name }));
const given = (...args: readonly string[]) => ({ args });
const variable = (name: string) => ({ env: [{ name, value: `${PLUGINS}/y/csi.sock` }] });

/** Pods of the driver and one registrar, and whether it stays. */
const ONE: readonly (readonly [what: string, path: string, more: object, stays: boolean])[] = [
  ["served", `${PLUGINS}/x.csi/csi.sock`, {}, false],
  ["a path in a word of its own", "", given("--kubelet-registration-path", `${PLUGINS}/x/csi.sock`), false],
  ["a flag with one dash", "", given(`-kubelet-registration-path=${PLUGINS}/x/csi.sock`), false],
  ["a path in a variable", "$(SOCKET)", variable("SOCKET"), false],
  ["a path in another variable", "/x/csi.sock", variable("A"), true],
  ["a deeper driver", `${PLUGINS}/a/b/csi.sock`, {}, true],
  ["another socket", `${PLUGINS}/a/x.sock`, {}, true],
  ["another root", `/k${PLUGINS}/a/csi.sock`, {}, true],
  ["one of the whole node", `${PLUGINS}/*/csi.sock`, {}, true],
  ["an image of another name", `${PLUGINS}/x/csi.sock`, { image: "example.com/registrar:v1" }, true],
  [
    "an address",
    "",
    given(`--csi-address=${PLUGINS}/x/csi.sock`, "-kubelet-registration-path=/x.sock"),
    true,
  ],
];

test.each<readonly [what: string, containers: readonly object[], left: string]>([
  ["several", [served("a"), DRIVER, served("b"), { ...DRIVER, name: "last" }, served("c")], "driver last"],
  ["a pod's only container", [served("r")], "r"],
  ["60 containers", [DRIVER, ...Array.from({ length: 59 }, (_, at) => served(`r${at}`))], "driver"],
  ...ONE.map(([what, path, more, stays]) => {
    return [what, [DRIVER, registrar("r", path, more)], stays ? "driver r" : "driver"] as const;
  }),
])("%s: what stays", async (_what, containers, left) => {
  const { containers: stay } = await dryRun(cluster, "drop", { containers });
  expect((stay as readonly Container[]).map(({ name }) => name).join(" ")).toBe(left);
});

test("native sidecars go too", async () => {
  const initContainers = [FIRST, served("d", sidecar), served("e", sidecar), SECOND];
  const spec = await dryRun(cluster, "drop", { containers: [served("a"), DRIVER], initContainers });
  expect(spec).toMatchObject({ containers: [DRIVER], initContainers: [FIRST, SECOND] });
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
