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

test.each<readonly [text: string, hint: string]>([
  // pkg/volume/csi: csi_plugin.go, nodeinfomanager/nodeinfomanager.go
  // pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go
  ["no handler registered for plugin type: DRAPlugin at socket /x", "needs Kubernetes 1.34"],
  ["no handler registered for plugin type: CSI at socket /x", "no plugins of this type"],
  [PEER, "kubelet has, or is registering, this driver by another socket"],
  ['None of the versions specified ["2.0.0"] are supported. err=could not find', "such a version, 1.0.0"],
  ["error adding CSI driver node info: driverNodeID must not be empty", "NodeGetInfo returns no node ID"],
  // What the call of NodeGetInfo ended with.
  [`${RPC} Unimplemented desc = unknown service`, `what listens on ${ENDPOINT} does not serve CSI's Node`],
  [`${DIAL} no such file or directory"`, "check --kubelet-registration-path"],
  [`${DIAL} connection refused"`, `no process listens on ${ENDPOINT} on the host: the driver does not run`],
  [`${DIAL} permission denied"`, `kubelet has no permission to open ${ENDPOINT}`],
  [`${RPC} DeadlineExceeded desc = context deadline exceeded`, "NodeGetInfo did not answer in time"],
  // The driver's words, of which some read like kubelet's.
  ...[
    "metadata: dial tcp 169.254.169.254:80",
    "agent: dial unix /run/agent.sock: connect: permission denied",
    `${RPC} Unavailable desc = connection error: desc = "dial unix /run/agent.sock: connection refused"`,
    'error updating Node labels: nodes "n1" not found\ndriverNodeID must not be empty',
  ].map((words) => [`${RPC} Internal desc = ${words}`, "the error of the driver's NodeGetInfo"] as const),
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

/** As kubelet words them since 1.20: `failed to patch status` in component-helpers' node/util, and nodeinfomanager.go. */
const TIMED_OUT = "timed out waiting for the condition; caused by:";
const NODE = `error updating Node object with CSI driver node info: error updating node: ${TIMED_OUT} failed to patch status "{\\"metadata\\":{}}" for node "n1":`;
const CSI_NODE = `error updating CSINode object with CSI driver node info: error updating CSINode: ${TIMED_OUT}`;
const INVALID = 'CSINode.storage.k8s.io "n1" is invalid:';
const [OF_NAME, OF_NODE_INFO] = [
  "comes from its GetPluginInfo",
  "refuses a value of the driver's NodeGetInfo",
];
const POST =
  'failed to call webhook: Post "https://w.ns.svc:443/v?timeout=10s": dial tcp 10.0.0.1:443: connect: refused';
const GET = 'Get "https://10.0.0.1:6443/api/v1/nodes/n1":';

test.each([
  // The API server's words, from the file of Kubernetes that is named, and a release behind those that not all write.
  // pkg/apis/storage/validation/validation.go, pkg/apis/core/validation, apimachinery's field/errors.go
  [CSI_NODE, `${INVALID} spec.drivers[0].name: Too long: must have at most 63 bytes`, OF_NAME], // 1.20
  [CSI_NODE, `${INVALID} spec.drivers[0].name: Too long: may not be more than 63 bytes`, OF_NAME], // 1.36
  [CSI_NODE, `${INVALID} spec.drivers[2].name: Invalid value: "x_y": a lowercase RFC 1123`, OF_NAME],
  [CSI_NODE, `${INVALID} [spec.drivers[0].name: Required value, x: y]`, OF_NAME],
  [CSI_NODE, `${INVALID} spec.drivers[1].name: Duplicate value: "a"`, OF_NAME],
  [CSI_NODE, `${INVALID} spec.drivers[0].nodeID: Invalid value: "i": must be 128 characters`, OF_NODE_INFO], // 1.20
  [CSI_NODE, `${INVALID} spec.drivers[0].nodeID: Required value`, OF_NODE_INFO],
  [CSI_NODE, `${INVALID} spec.drivers[0]: Duplicate value: "zone"`, OF_NODE_INFO],
  [
    CSI_NODE,
    `${INVALID} CSINodeDriver: Invalid value: {Name:"a"}: field is immutable`,
    "had another node ID",
  ], // 1.20
  [
    CSI_NODE,
    `${INVALID} spec.drivers: Invalid value: {"Name":"a"}: field is immutable`,
    "had another node ID",
  ], // 1.36
  [NODE, 'Node "n1" is invalid: metadata.labels: Invalid value: "-": a valid label', OF_NODE_INFO],
  // plugin/pkg/admission/noderestriction/admission.go, plugin/pkg/auth/authorizer/node/node_authorizer.go
  [NODE, 'nodes "n1" is forbidden: node "n2" is not allowed to modify node "n1"', "of another node"],
  [
    NODE,
    'nodes "n1" is forbidden: is not allowed to modify labels: a.kubernetes.io/b',
    "another topology key",
  ],
  [
    CSI_NODE,
    'csinodes.storage.k8s.io "n1" is forbidden: User "system:node:n2" cannot get resource "csinodes" in API group "storage.k8s.io" at the cluster scope: can only access CSINode with the same name as the requesting node',
    "of another node",
  ],
  [CSI_NODE, 'csinodes.storage.k8s.io "n1" is forbidden: User "u" cannot get', "check kubelet's rights"],
  // apiserver's admission/plugin/webhook/errors, admission/plugin/policy/validating/dispatcher.go
  [NODE, 'admission webhook "w.example.com" denied the request: no', "admission webhook or policy"],
  [NODE, `Internal error occurred: failed calling webhook "w": ${POST}`, "admission webhook or policy"],
  [
    CSI_NODE,
    "csinodes.storage.k8s.io \"n1\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
    "admission webhook or policy",
  ], // 1.26
  // apimachinery's pkg/api/errors/errors.go, crypto/x509 and crypto/tls of Go
  [NODE, 'nodes "n1" not found', "there is no Node"],
  [NODE, "Unauthorized", "does not accept kubelet's credentials"],
  [
    NODE,
    "the server has asked for the client to provide credentials (get nodes n1)",
    "kubelet's credentials",
  ],
  [
    NODE,
    `${GET} tls: failed to verify certificate: x509: certificate has expired`,
    "certificate: check when",
  ], // 1.27
  [NODE, `${GET} x509: certificate signed by unknown authority`, "certificate: check when"], // 1.20
  [NODE, `${GET} remote error: tls: expired certificate`, "certificate: check when"],
  [NODE, `${GET} dial tcp 10.0.0.1:6443: connect: connection refused`, "cannot reach the API server"],
  [CSI_NODE, "etcdserver: request timed out", "cannot reach the API server, or it fails"],
  // nodeinfomanager.go, client-go's request.go
  [
    "error updating Node object with CSI driver node info: error updating node: timed out; caused by:",
    'detected topology value collision: driver reported "zone":"a" but existing label is "zone":"b"',
    "differs from a label of the node",
  ],
  [
    CSI_NODE,
    '[CSINode "n1" was owned by different node (oldNodeID="a", newNodeID="b"), deleted it]',
    "restart kubelet on this node",
  ], // 1.35
  [NODE, "resource name may not be empty", "lost its node's name"],
])("in the API server's words: %s %s", (lead, text, hint) => {
  expect(hintForRefusal(`${REGISTER}${lead} ${text}`, ENDPOINT)).toContain(hint);
});

test("a driver's words are not taken for the API server's", () => {
  const ofDriver = `${REGISTER}${RPC} Internal desc = Unauthorized: nodes "n1" not found`;
  expect(hintForRefusal(ofDriver, ENDPOINT)).toContain("the error of the driver's NodeGetInfo");
});

test.each(["not yet", ""])("%j has no hint", (text) => {
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

test("without a verdict by the mounts the hint explains kubelet's text", async () => {
  const paths = { endpoint: ENDPOINT, pluginRegistrationPath: "/registration" };
  const sidecar = { ...paths, csiSocketPath: "/csi/csi.sock" };
  const explain = (one: typeof paths, text: string, foundByPattern?: string) =>
    explainRefusal(text, one, foundByPattern, tableOf([]));
  const unfit = "rpc error: code = Unimplemented";
  for (const text of [unfit, "dial unix /x: connect: no such file"]) {
    expect(await explain(paths, text)).toMatch(
      /check (?:that addServices adds its NodeGetInfo, and )?the option endpoint/,
    );
    expect(await explain(sidecar, text)).toContain("check --kubelet-registration-path");
  }
  expect(await explain(sidecar, unfit, "b.csi")).toContain(
    "leave it out with --deny-drivers=b.csi, or move its socket",
  );
});
