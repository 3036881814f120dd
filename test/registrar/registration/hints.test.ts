import { KUBELET_ROOTS } from "../../../src/host-path/kubelet-roots";
import {
  explainRefusal,
  explainSilence,
  hintForRefusal,
  meansPeer,
} from "../../../src/registrar/registration/hints";
import { CONTAINER, K, REGISTRATION, type Row, tableOf, USUAL } from "../../support/mount-rows";

const ENDPOINT = "/var/lib/kubelet/plugins/x/csi.sock";
/** How kubelet begins every refusal of a driver that it had validated (operation_generator.go). */
const REGISTER = "RegisterPlugin error -- plugin registration failed with err: ";
const VALIDATE = "RegisterPlugin error -- plugin validation failed with err: ";
const NODE_UPDATE =
  "error updating Node object with CSI driver node info: error updating node: timed out waiting for the condition; caused by: ";
const DIAL = `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix ${ENDPOINT}: connect: `;

const PEER =
  `${VALIDATE}validation failed for CSI Driver x.csi at endpoint ${ENDPOINT}: kubernetes.io/csi: ValidatePlugin for CSI driver ` +
  '"x.csi" failed. Another driver with the same name is already registered with a higher supported version: "1.0.0"';

test.each([
  ["another socket of the same driver", PEER, "another socket under which the same driver"],
  [
    "a topology label that differs (updateTopologyLabels)",
    `${REGISTER}${NODE_UPDATE}detected topology value collision: driver reported "example.com/zone":"a" but existing label is "example.com/zone":"b"`,
    "differs from a label the node has",
  ],
  [
    "an empty node ID (InstallCSIDriver)",
    `${REGISTER}error adding CSI driver node info: driverNodeID must not be empty`,
    "returns an empty node ID",
  ],
  [
    "another gRPC service, written in Go",
    `${REGISTER}rpc error: code = Unimplemented desc = unknown service csi.v1.Node`,
    `what listens on ${ENDPOINT} does not serve CSI's Node service: check --kubelet-registration-path`,
  ],
  [
    "an API server that is away",
    `${REGISTER}${NODE_UPDATE}Get "https://10.0.0.1:6443/api/v1/nodes/n1": dial tcp 10.0.0.1:6443: connect: connection refused`,
    "could not write to the API server",
  ],
  [
    "a lack of rights",
    `${REGISTER}error updating CSINode object with CSI driver node info: error updating CSINode: timed out waiting for the condition; caused by: csinodes.storage.k8s.io "n1" is forbidden`,
    "could not write to the API server",
  ],
  ["a wrong path", `${REGISTER}${DIAL}no such file or directory"`, "check --kubelet-registration-path"],
  ["a driver gone", `${REGISTER}${DIAL}connection refused"`, `cannot reach the driver at ${ENDPOINT}`],
  ["no permission", `${REGISTER}${DIAL}permission denied"`, `kubelet has no permission to open ${ENDPOINT}`],
  [
    "a driver whose HTTP/2 server refuses a path as :authority",
    `${REGISTER}rpc error: code = Internal desc = stream terminated by RST_STREAM with error code: PROTOCOL_ERROR`,
    "a path as :authority",
  ],
  [
    "a driver that hangs",
    `${REGISTER}rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
    "NodeGetInfo did not answer in time",
  ],
  [
    "a driver that fails by itself",
    `${REGISTER}rpc error: code = Internal desc = metadata: dial tcp 169.254.169.254:80: i/o timeout`,
    "the error of the driver's NodeGetInfo",
  ],
  // kubernetes/kubernetes, pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go
  [
    "a kubelet that registers no DRA drivers",
    "RegisterPlugin error -- no handler registered for plugin type: DRAPlugin at socket /x",
    "DRA drivers need Kubernetes 1.34",
  ],
  // pkg/volume/csi/csi_plugin.go
  [
    "no version 1.x of a CSI driver",
    `${VALIDATE}validation failed for CSI Driver x.csi at endpoint ${ENDPOINT}: kubernetes.io/csi: ValidatePlugin for CSI driver ` +
      '"x.csi" failed. None of the versions specified ["2.0.0"] are supported. err=could not find a highest supported version',
    "such a version, 1.0.0",
  ],
  // pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go
  [
    "no service of a DRA driver that kubelet calls",
    `${VALIDATE}invalid supported gRPC versions of DRA driver plugin gpu.example.com at endpoint ${ENDPOINT}: none of services ` +
      'supported by the plugin (["v9.DRAPlugin"]) are supported by the kubelet (["v1.DRAPlugin" "v1beta1.DRAPlugin"])',
    "v1.DRAPlugin or v1beta1.DRAPlugin",
  ],
  [
    "a DRA driver's second registration",
    `${REGISTER}endpoint ${ENDPOINT} already registered for DRA driver plugin gpu.example.com`,
    `has registered ${ENDPOINT} already`,
  ],
  // pkg/kubelet/cm/devicemanager: plugin/v1beta1/handler.go, plugin/v1beta1/client.go, manager.go
  [
    "a device plugin's second registration",
    `${REGISTER}device plugin already connected: ${ENDPOINT}`,
    `has registered ${ENDPOINT} already`,
  ],
  [
    "another version of the device plugin API",
    `${VALIDATE}manager version, v1beta1, is not among plugin supported versions [v2]`,
    "kubelet names, v1beta1",
  ],
  [
    "a device plugin that does not listen",
    `${REGISTER}failed to dial device plugin: context deadline exceeded`,
    "cannot reach the device plugin",
  ],
  [
    "a device plugin's endpoint with another service",
    `${REGISTER}failed to get device plugin options: rpc error: code = Unimplemented desc = unknown service`,
    "failed GetDevicePluginOptions",
  ],
])("explains %s", (_cause, text, hint) => {
  expect(hintForRefusal(text, ENDPOINT)).toContain(hint);
});

test.each([`${REGISTER}not yet`, ""])("says nothing to %j", (text) => {
  expect(hintForRefusal(text, ENDPOINT)).toBeUndefined();
});

test("knows a peer by kubelet's text, and by nothing else", () => {
  expect(meansPeer(PEER)).toBe(true);
  expect(meansPeer(`${REGISTER}${DIAL}connection refused"`)).toBe(false);
});

const NOTHING = { accepted: 0, open: 0, cutBeforeCall: 0, rejected: 0 };

test.each([
  ["nothing ever connected: our folder", NOTHING, "/registration must be the host's <kubelet root>/plug"],
  ["nothing ever connected: SELinux", NOTHING, "SELinux"],
  ...Object.values(KUBELET_ROOTS).map(
    (root) => ["nothing ever connected: kubelet's root", NOTHING, root] as const,
  ),
  ["a client left without a call", { ...NOTHING, cutBeforeCall: 1 }, "disconnected without a call"],
  [
    "a client broke the protocol, above all",
    { ...NOTHING, cutBeforeCall: 1, rejected: 1, lastRejection: "bad preface" },
    "violated HTTP/2: bad preface",
  ],
] as const)("kubelet is silent, %s", (_what, connections, expected) => {
  expect(explainSilence("/registration", connections)).toContain(expected);
});

test("a driver in this process is told of its options, not of flags", () => {
  const hint = (text: string) => hintForRefusal(text, ENDPOINT, { isInProcess: true }) ?? "";
  expect(hint("dial unix /x: connect: no such file")).toContain("check the option endpoint");
  expect(hint("RST_STREAM with error code: PROTOCOL_ERROR")).toContain("serveCsiDriver() takes it");
  expect(hint('driverNodeID: Invalid value: "x": must be 256 characters or less')).toContain("NodeGetInfo");
});

test.each(["must be 63 characters or less", "must be 192 bytes or less", 'Invalid value: "x"'])(
  "the API server's %j is about what the driver says of its node",
  (text) => {
    expect(hintForRefusal(text, ENDPOINT)).toContain("refuses a value of the driver's NodeGetInfo");
  },
);

test("what a pattern found and is no node service is to be left out, its path is right", () => {
  const text = "rpc error: code = Unimplemented desc = unknown service csi.v1.Node";
  const hint = hintForRefusal(text, ENDPOINT, { foundByPattern: "b.csi" });
  expect(hint).toBe(
    `what listens on ${ENDPOINT} does not serve CSI's Node service: leave it out with --deny-drivers=b.csi, or move its socket where no pattern fits it`,
  );
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
  const paths = {
    csiSocketPath: "/csi/csi.sock",
    kubeletRegistrationPath: "/csi/csi.sock",
    pluginRegistrationPath: "/registration",
  };
  const text = "connection error: dial unix /csi/csi.sock: connect: no such file or directory";
  expect(await explainRefusal(text, paths, {}, tableOf(rows))).toContain(expected);
  expect(await explainRefusal("driverNodeID must not be empty", paths, {}, tableOf(rows))).toContain(
    "node ID",
  );
});

test("where the mounts show nothing, the text is explained to who runs the driver", async () => {
  const paths = { kubeletRegistrationPath: ENDPOINT, pluginRegistrationPath: "/registration" };
  const sidecar = { ...paths, csiSocketPath: "/csi/csi.sock" };
  const text = "rpc error: code = Unimplemented";
  const explain = (one: typeof paths, foundByPattern?: string) =>
    explainRefusal(text, one, { foundByPattern }, tableOf([]));
  expect(await explain(paths)).toContain("check the option endpoint");
  expect(await explain(sidecar)).toContain("check --kubelet-registration-path");
  expect(await explain(sidecar, "b.csi")).toContain("--deny-drivers=b.csi");
});
