import {
  BUSY_WITH_DRIVER,
  explainRefusal,
  explainSilence,
  hintForRefusal,
} from "../../../src/registrar/registration/hints";
import { CONTAINER, K, REGISTRATION, type Row, tableOf, USUAL } from "../../support/mount-rows";

const ENDPOINT = "/var/lib/kubelet/plugins/x/csi.sock";
/** How kubelet begins every refusal of a driver that it had validated (operation_generator.go). */
const REGISTER = "RegisterPlugin error -- plugin registration failed with err: ";
const RPC = "rpc error: code =";
const DIAL = `${RPC} Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix ${ENDPOINT}: connect:`;

/** As kubelet words them since 1.20: `failed to patch status` in component-helpers' node/util, and nodeinfomanager.go. */
const TIMED_OUT = "timed out waiting for the condition; caused by:";
const NODE = `error updating Node object with CSI driver node info: error updating node: ${TIMED_OUT} failed to patch status "{\\"metadata\\":{}}" for node "n1":`;
const CSI_NODE = `error updating CSINode object with CSI driver node info: error updating CSINode: ${TIMED_OUT}`;

/** Each hint, with the texts that it is for. */
function byHint(texts: readonly string[]): Record<string, string[]> {
  const all: Record<string, string[]> = {};
  for (const text of texts) {
    const hint = hintForRefusal(REGISTER + text, ENDPOINT) ?? "no hint";
    all[hint] = [
      ...(all[hint] ?? []),
      text.replace(NODE, "NODE").replace(CSI_NODE, "CSI_NODE").replace(DIAL, "DIAL"),
    ];
  }
  return all;
}

test("a refusal in kubelet's words, in those of its connection and in the driver's", () => {
  const texts = [
    // pkg/volume/csi: csi_plugin.go, nodeinfomanager/nodeinfomanager.go
    // pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go
    "no handler registered for plugin type: DRAPlugin at socket /x",
    "no handler registered for plugin type: CSI at socket /x",
    '"x.csi" failed. Another driver with the same name is already registered with a higher supported version: "1.0.0"',
    'None of the versions specified ["2.0.0"] are supported. err=could not find',
    "empty list for supported versions",
    "error adding CSI driver node info: driverNodeID must not be empty",
    // What the call of NodeGetInfo ended with.
    `${RPC} Unimplemented desc = unknown service`,
    `${DIAL} no such file or directory"`,
    `${DIAL} connection refused"`,
    `${DIAL} permission denied"`,
    `${RPC} DeadlineExceeded desc = context deadline exceeded`,
    // The driver's words, of which some read like kubelet's.
    ...[
      "metadata: dial tcp 169.254.169.254:80",
      "agent: dial unix /run/agent.sock: connect: permission denied",
      `${RPC} Unavailable desc = connection error: desc = "dial unix /run/agent.sock: connection refused"`,
      'error updating Node labels: nodes "n1" not found\ndriverNodeID must not be empty',
      'Unauthorized: nodes "n1" not found',
    ].map((words) => `${RPC} Internal desc = ${words}`),
    // pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go
    'none of services supported by the plugin (["v9.DRAPlugin"]) are supported',
    `endpoint ${ENDPOINT} already registered for DRA driver plugin x`,
    // pkg/kubelet/cm/devicemanager: plugin/v1beta1/handler.go, plugin/v1beta1/client.go, manager.go
    `device plugin already connected: ${ENDPOINT}`,
    "manager version, v1beta1, is not among plugin supported versions [v2]",
    "failed to dial device plugin: context deadline exceeded",
    `failed to get device plugin options: ${RPC} Unimplemented`,
    "not yet",
    "",
  ];
  expect(byHint(texts)).toMatchSnapshot();
});

const INVALID = 'CSINode.storage.k8s.io "n1" is invalid:';
const POST =
  'failed to call webhook: Post "https://w.ns.svc:443/v?timeout=10s": dial tcp 10.0.0.1:443: connect: refused';
const GET = 'Get "https://10.0.0.1:6443/api/v1/nodes/n1":';

test("a refusal in the API server's words", () => {
  const texts = [
    // The file of Kubernetes that is named, and a release behind those that not all write.
    // pkg/apis/storage/validation/validation.go, pkg/apis/core/validation, apimachinery's field/errors.go
    `${CSI_NODE} ${INVALID} spec.drivers[0].name: Too long: must have at most 63 bytes`, // 1.20
    `${CSI_NODE} ${INVALID} spec.drivers[0].name: Too long: may not be more than 63 bytes`, // 1.36
    `${CSI_NODE} ${INVALID} spec.drivers[21].name: Invalid value: "x_y": a lowercase RFC 1123`,
    `${CSI_NODE} ${INVALID} [spec.drivers[0].name: Required value, x: y]`,
    `${CSI_NODE} ${INVALID} spec.drivers[1].name: Duplicate value: "a"`,
    `${CSI_NODE} ${INVALID} spec.drivers[0].nodeID: Invalid value: "i": must be 128 characters`, // 1.20
    `${CSI_NODE} ${INVALID} spec.drivers[10].nodeID: Required value`,
    `${CSI_NODE} ${INVALID} spec.drivers[0]: Duplicate value: "zone"`,
    `${CSI_NODE} ${INVALID} CSINodeDriver: Invalid value: {Name:"a"}: field is immutable`, // 1.20
    `${CSI_NODE} ${INVALID} spec.drivers: Invalid value: {"Name":"a"}: field is immutable`, // 1.36
    `${NODE} Node "n1" is invalid: metadata.labels: Invalid value: "-": a valid label`,
    // plugin/pkg/admission/noderestriction/admission.go, plugin/pkg/auth/authorizer/node/node_authorizer.go
    `${NODE} nodes "n1" is forbidden: node "n2" is not allowed to modify node "n1"`,
    `${NODE} nodes "n1" is forbidden: is not allowed to modify labels: a.kubernetes.io/b`,
    `${CSI_NODE} csinodes.storage.k8s.io "n1" is forbidden: User "system:node:n2" cannot get resource "csinodes" in API group "storage.k8s.io" at the cluster scope: can only access CSINode with the same name as the requesting node`,
    `${CSI_NODE} csinodes.storage.k8s.io "n1" is forbidden: User "u" cannot get`,
    // apiserver's admission/plugin/webhook/errors, admission/plugin/policy/validating/dispatcher.go
    `${NODE} admission webhook "w.example.com" denied the request: no`,
    `${NODE} Internal error occurred: failed calling webhook "w": ${POST}`,
    `${CSI_NODE} csinodes.storage.k8s.io "n1" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`, // 1.26
    // apimachinery's pkg/api/errors/errors.go, crypto/x509 and crypto/tls of Go
    `${NODE} nodes "n1" not found`,
    `${NODE} node "n1" not found`,
    `${NODE} Unauthorized`,
    `${NODE} the server has asked for the client to provide credentials (get nodes n1)`,
    `${NODE} ${GET} tls: failed to verify certificate: x509: certificate has expired`, // 1.27
    `${NODE} ${GET} x509: certificate signed by unknown authority`, // 1.20
    `${NODE} ${GET} remote error: tls: expired certificate`,
    `${NODE} ${GET} dial tcp 10.0.0.1:6443: connect: connection refused`,
    `${CSI_NODE} etcdserver: request timed out`,
    // nodeinfomanager.go, client-go's request.go
    'error updating Node object with CSI driver node info: error updating node: timed out; caused by: detected topology value collision: driver reported "zone":"a" but existing label is "zone":"b"',
    `${CSI_NODE} [CSINode "n1" was owned by different node (oldNodeID="a", newNodeID="b"), deleted it]`, // 1.35
    `${NODE} resource name may not be empty`,
  ];
  expect(byHint(texts)).toMatchSnapshot();
});

const NOTHING = { accepted: 0, open: 0, cutBeforeCall: 0, rejected: 0 };
const BROKEN = { ...NOTHING, cutBeforeCall: 1, rejected: 1, lastRejection: "bad preface" };

test("why kubelet is silent", () => {
  expect({
    "nothing ever connected": explainSilence("/registration", NOTHING),
    "a client left without a call": explainSilence("/registration", { ...NOTHING, cutBeforeCall: 1 }),
    "a client broke the protocol, above all": explainSilence("/registration", BROKEN),
    "it has refused another name": BUSY_WITH_DRIVER,
  }).toMatchSnapshot();
});

const EMPTY_DIR: Row = `8:1 ${K}/pods/1-2/volumes/kubernetes.io~empty-dir/s /csi`;
const SIDECAR = { csiSocketPath: "/csi/csi.sock", endpoint: "/csi/csi.sock" };
const IN_PROCESS = { endpoint: "/csi/csi.sock" };

test("what the mounts show comes before the hint at a driver that kubelet cannot reach", async () => {
  const cases: readonly [string, object, readonly Row[], foundByPattern?: string][] = [
    ["a path of the container", SIDECAR, USUAL],
    ["nothing mounted", SIDECAR, [CONTAINER, REGISTRATION]],
    ["an emptyDir volume", SIDECAR, [CONTAINER, EMPTY_DIR, REGISTRATION]],
    ["no verdict", SIDECAR, []],
    ["no verdict, found by a pattern", SIDECAR, [], "b.csi"],
    ["no verdict, in this process", IN_PROCESS, []],
  ];
  const explained: Record<string, readonly unknown[]> = {};
  for (const [what, given, rows, foundByPattern] of cases) {
    const paths = { pluginRegistrationPath: "/registration", endpoint: "", ...given };
    const explain = (text: string) => explainRefusal(text, paths, foundByPattern, tableOf(rows));
    explained[what] = [
      await explain(`${DIAL} no such file or directory"`),
      await explain(`${RPC} Unimplemented desc = unknown service`),
      await explain("driverNodeID must not be empty"),
    ];
  }
  expect(explained).toMatchSnapshot();
});
