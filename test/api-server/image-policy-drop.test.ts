import { runCommand } from "../support/run-command";
import { useCluster } from "./support/cluster";
import {
  applyPolicy,
  DRIVER,
  dryRun,
  enforced,
  IMAGE,
  OURS,
  onNode,
  type PodSpec,
  REGISTRAR,
} from "./support/dry-pods";

const cluster = useCluster(async (started) => {
  await started.apply((await runCommand("manifest", "--node-wide", IMAGE)).stdout);
  await applyPolicy(started, "drop", "--drop");
  await applyPolicy(started, "some", "--drop", "--nodes=node-1,node-3");
  await enforced(started, "drop", "some");
});

const PLUGINS = "/var/lib/kubelet/plugins";
const registrar = (name: string, ...args: readonly string[]) => ({ ...REGISTRAR, name, args });
const served = (name: string) => registrar(name, `--kubelet-registration-path=${PLUGINS}/x.csi/csi.sock`);
const init = (name: string) => ({ ...served(name), restartPolicy: "Always" });
const pod = (...containers: readonly object[]): PodSpec => ({ containers });
const given = (...args: readonly string[]) => pod(DRIVER, registrar("r", ...args));
const at = (path: string, more: object = {}) =>
  pod(DRIVER, { ...registrar("r", "--csi-address=/a", `--kubelet-registration-path=${path}`), ...more });
const [first, second] = ["first", "second"].map((name) => ({ ...DRIVER, name }));
const SIDECARS = { initContainers: [first, init("d"), init("e"), second] };
const variable = (name: string) => ({ env: [{ name, value: `${PLUGINS}/y/csi.sock` }] });
const APPARMOR = { annotations: { "container.apparmor.security.beta.kubernetes.io/a": "runtime/default" } };

test.each<[what: string, left: string, spec: PodSpec, metadata?: object, namespace?: string]>([
  ["a served driver's", "driver", at(`${PLUGINS}/x.csi/csi.sock`)],
  ["a path in a word of its own", "driver", given("--kubelet-registration-path", `${PLUGINS}/x/csi.sock`)],
  ["a flag with one dash", "driver", given(`-kubelet-registration-path=${PLUGINS}/x/csi.sock`)],
  ["a path in a variable", "driver", at("$(SOCKET)", variable("SOCKET"))],
  ["a path in another variable", "driver r", at("/x/csi.sock", variable("A"))],
  ["a deeper driver", "driver r", at(`${PLUGINS}/a/b/csi.sock`)],
  ["another socket", "driver r", at(`${PLUGINS}/a/x.sock`)],
  ["another root", "driver r", at(`/k${PLUGINS}/a/csi.sock`)],
  ["one of the whole node", "driver r", at(`${PLUGINS}/*/csi.sock`)],
  ["an image of another name", "driver r", at(`${PLUGINS}/x/csi.sock`, { image: "a.b/registrar:v1" })],
  ["an address", "driver r", given(`--csi-address=${PLUGINS}/x/csi.sock`, "-kubelet-registration-path=/x")],
  ["several", "driver last", pod(served("a"), DRIVER, served("b"), { ...DRIVER, name: "last" }, served("c"))],
  ["a pod's only container", "r", pod(served("r"))],
  ["60 containers", "driver", pod(DRIVER, ...Array.from({ length: 59 }, (_, n) => served(`r${n}`)))],
  ["native sidecars", "first second driver", { ...pod(served("a"), DRIVER), ...SIDECARS }],
  // The API server refuses a profile of no container.
  ["one with an AppArmor profile", "driver a", pod(DRIVER, served("a"), served("b")), APPARMOR],
  ["one on a node of --nodes", "driver", onNode("node-1", pod(DRIVER, served("r"))), {}, "some"],
  ["one on another node", "driver r", onNode("node-2", pod(DRIVER, served("r"))), {}, "some"],
])("%s: the policy leaves %s", async (_what, left, pod, metadata = {}, namespace = "drop") => {
  const { initContainers = [], containers } = await dryRun(cluster, namespace, pod, metadata);
  const names = [initContainers, containers].flat().map((one) => Object(one).name);
  expect(names.join(" ")).toBe(left);
});

test("the policy leaves the registrar of the whole node alone", async () => {
  const words = ["get", "daemonset", "csi-registrar", "--namespace=kube-system", "-o", "json"];
  const { containers, volumes } = JSON.parse(await cluster.controlPlane.kubectl(...words)).spec.template.spec;
  const spec = await dryRun(cluster, "drop", { containers, volumes });
  expect(spec.containers).toMatchObject([{ image: OURS }]);
});
