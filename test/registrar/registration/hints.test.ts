import { KUBELET_ROOTS } from "../../../src/host-path/kubelet-roots";
import { explainRefusal, explainSilence, hintForRefusal } from "../../../src/registrar/registration/hints";
import { CONTAINER, K, REGISTRATION, type Row, tableOf, USUAL } from "../../support/mount-rows";

const ENDPOINT = "/var/lib/kubelet/plugins/x/csi.sock";
/** How kubelet begins every refusal of a driver that it had validated (operation_generator.go). */
const REGISTER = "RegisterPlugin error -- plugin registration failed with err: ";
const RPC = "rpc error: code =";
const DIAL = `${RPC} Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix ${ENDPOINT}: connect:`;
const PEER =
  '"x.csi" failed. Another driver with the same name is already registered with a higher supported version: "1.0.0"';

test.each([
  // pkg/volume/csi: csi_plugin.go, nodeinfomanager/nodeinfomanager.go
  [PEER, "another socket of this node has registered the same driver"],
  ['None of the versions specified ["2.0.0"] are supported. err=could not find', "such a version, 1.0.0"],
  ["error adding CSI driver node info: driverNodeID must not be empty", "NodeGetInfo returns no node ID"],
  [
    'error updating Node object: detected topology value collision: driver reported "zone":"a" but existing label is "zone":"b"',
    "differs from a label of the node",
  ],
  ["error updating Node object with CSI driver node info: dial tcp: refused", "the API server is away"],
  [
    'error updating CSINode: [CSINode "n1" was owned by different node (oldNodeID="a", newNodeID="b"), deleted it]',
    "restart kubelet on this node",
  ],
  ['error updating CSINode: csinodes.storage.k8s.io "n1" is forbidden', "or does not let kubelet write"],
  ["error updating node: timed out; caused by: resource name may not be empty", "lost its node's name"],
  ["must be 63 characters or less", "refuses a value of the driver's NodeGetInfo"],
  [
    'driverNodeID: Invalid value: "x": must be 192 bytes or less',
    "refuses a value of the driver's NodeGetInfo",
  ],
  ['Invalid value: "x"', "refuses a value of the driver's NodeGetInfo"],
  // What the call of NodeGetInfo ended with.
  [`${RPC} Unimplemented desc = unknown service`, `what listens on ${ENDPOINT} does not serve CSI's Node`],
  [`${DIAL} no such file or directory"`, "check --kubelet-registration-path"],
  [`${DIAL} connection refused"`, `cannot reach the driver at ${ENDPOINT}`],
  [`${DIAL} permission denied"`, `kubelet has no permission to open ${ENDPOINT}`],
  [`${RPC} DeadlineExceeded desc = context deadline exceeded`, "NodeGetInfo did not answer in time"],
  [`${RPC} Internal desc = metadata: dial tcp 169.254.169.254:80`, "the error of the driver's NodeGetInfo"],
  // pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go
  [
    'none of services supported by the plugin (["v9.DRAPlugin"]) are supported',
    "v1.DRAPlugin or v1beta1.DRAPlugin",
  ],
  [`endpoint ${ENDPOINT} already registered for DRA driver plugin x`, `has registered ${ENDPOINT} already`],
  // pkg/kubelet/cm/devicemanager: plugin/v1beta1/handler.go, plugin/v1beta1/client.go, manager.go
  [`device plugin already connected: ${ENDPOINT}`, `has registered ${ENDPOINT} already`],
  ["manager version, v1beta1, is not among plugin supported versions [v2]", "what kubelet names, v1beta1"],
  ["failed to dial device plugin: context deadline exceeded", `cannot reach the driver at ${ENDPOINT}`],
  [`failed to get device plugin options: ${RPC} Unimplemented`, "failed GetDevicePluginOptions"],
])("explains %j: %s", (text, hint) => {
  expect(hintForRefusal(REGISTER + text, ENDPOINT)).toContain(hint);
});

test.each(["not yet", ""])("says nothing to %j", (text) => {
  expect(hintForRefusal(REGISTER + text, ENDPOINT)).toBeUndefined();
});

const NOTHING = { accepted: 0, open: 0, cutBeforeCall: 0, rejected: 0 };
const BROKEN = { ...NOTHING, cutBeforeCall: 1, rejected: 1, lastRejection: "bad preface" };

test.each([
  ["nothing ever connected: our folder", NOTHING, "/registration must be the host's <kubelet root>/plug"],
  ["nothing ever connected: SELinux", NOTHING, "SELinux"],
  ...Object.values(KUBELET_ROOTS).map((root) => ["nothing ever connected", NOTHING, root] as const),
  ["a client left without a call", { ...NOTHING, cutBeforeCall: 1 }, "disconnected without a call"],
  ["a client broke the protocol, above all", BROKEN, "violated HTTP/2: bad preface"],
] as const)("kubelet is silent, %s", (_what, connections, expected) => {
  expect(explainSilence("/registration", connections)).toContain(expected);
});

const EMPTY_DIR: Row = `8:1 ${K}/pods/1-2/volumes/kubernetes.io~empty-dir/s /csi`;

test.each<[string, readonly Row[], string]>([
  [
    "a path of the container",
    USUAL,
    `on the host the driver's socket is ${K}/plugins/x/csi.sock: write --kubelet-registration-path=${K}/plugins/x/csi.sock`,
  ],
  ["nothing mounted", [CONTAINER, REGISTRATION], "no directory of the host is mounted at /csi: mount"],
  ["an emptyDir volume", [CONTAINER, EMPTY_DIR, REGISTRATION], "is in an emptyDir volume"],
])("what the mounts show comes first: %s", async (_, rows, expected) => {
  const csi = "/csi/csi.sock";
  const paths = { csiSocketPath: csi, endpoint: csi, pluginRegistrationPath: "/registration" };
  const explain = (text: string) => explainRefusal(text, paths, undefined, tableOf(rows));
  expect(await explain(`connection error: dial unix ${csi}: connect: no such file`)).toContain(expected);
  expect(await explain("driverNodeID must not be empty")).toContain("node ID");
});

test("where the mounts show nothing, the text is explained to who runs the driver", async () => {
  const paths = { endpoint: ENDPOINT, pluginRegistrationPath: "/registration" };
  const sidecar = { ...paths, csiSocketPath: "/csi/csi.sock" };
  const explain = (one: typeof paths, text: string, foundByPattern?: string) =>
    explainRefusal(text, one, foundByPattern, tableOf([]));
  const unfit = "rpc error: code = Unimplemented";
  for (const text of [unfit, "dial unix /x: connect: no such file"]) {
    expect(await explain(paths, text)).toContain("check the option endpoint");
    expect(await explain(sidecar, text)).toContain("check --kubelet-registration-path");
  }
  expect(await explain(sidecar, unfit, "b.csi")).toContain(
    "leave it out with --deny-drivers=b.csi, or move its socket",
  );
});
