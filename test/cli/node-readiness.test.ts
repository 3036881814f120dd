import { prepareNodeReadiness } from "../../src/cli/node-readiness";
import { silentLogger } from "../../src/logging/logger";
import type { Registrations } from "../../src/registrar/registration/registrations";
import { flagsOf } from "../flags/support";

const NONE = { scope: "one-driver", all: [], subscribe: () => () => {} } as unknown as Registrations;
const POD = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: "1" };
const prepare = (flag: string, environment: Readonly<Record<string, string>>) =>
  prepareNodeReadiness(flagsOf("--node-condition=a/b", ...flag.split(" ").filter(Boolean)), environment);

test.each([
  ["--node-name=a", { NODE_NAME: "b", KUBE_NODE_NAME: "c" }, "a"],
  ["", { NODE_NAME: "b", KUBE_NODE_NAME: "c" }, "b"],
  ["", { NODE_NAME: "", KUBE_NODE_NAME: "c" }, "c"],
])("with %j and %j it is the node %s", async (flag, environment, node) => {
  await using started = await (await prepare(flag, { ...POD, ...environment }))(NONE, silentLogger);
  expect(started.shown.describe()).toMatchObject({ node, conditions: [] });
});

test.each<[flag: string, environment: Readonly<Record<string, string>>, why: string]>([
  [
    "",
    POD,
    "--remove-startup-taint and --node-condition need the node's name: give --node-name, or set NODE_NAME from fieldRef spec.nodeName",
  ],
  ["--node-name=A", POD, 'node name "A" is not a valid name of a Node'],
  ["--node-name=a", {}, "no API server: KUBERNETES_SERVICE_HOST"],
  ["--node-name=a", { ...POD, KUBECONFIG: "/no/file" }, "KUBECONFIG /no/file: ENOENT"],
  ["--node-name=a --node-condition=Ready", POD, 'node condition "Ready": this is kubelet\'s own condition'],
])("with %j and %j node readiness cannot start: %s", async (flag, environment, why) => {
  await expect(prepare(flag, environment)).rejects.toThrow(why);
});
