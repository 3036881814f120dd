import { settingsOf } from "../../../src/cli/commands/doctor/settings";
import { findingsOf } from "../../../src/doctor/findings/finding";
import { MANIFEST_CHECKS } from "../../../src/doctor/manifest/checks";
import { readDeployments } from "../../../src/doctor/manifest/read-deployments";

export const PATH = "/var/lib/kubelet/plugins/x.csi";

/** A DaemonSet that is right, with changes to its registrar, its pod and its spec. */
export function daemonSet({ args = [], container = {}, pod = {}, spec = {}, name = "x" }: Changes = {}) {
  const registrar = {
    name: "registrar",
    image: "registrar:v1",
    args: ["--csi-address=/csi/csi.sock", `--kubelet-registration-path=${PATH}/csi.sock`, ...args],
    volumeMounts: [
      { name: "plugin", mountPath: "/csi" },
      { name: "registration", mountPath: "/registration" },
    ],
    ...container,
  };
  const volumes = [
    { name: "plugin", hostPath: { path: PATH } },
    { name: "registration", hostPath: { path: "/var/lib/kubelet/plugins_registry" } },
  ];
  return {
    kind: "DaemonSet",
    metadata: { name, namespace: "ns" },
    spec: {
      template: { spec: { containers: [registrar, { name: "driver" }], volumes, ...pod } },
      ...spec,
    },
  };
}

export interface Changes {
  /** What YAML may have there: a number is none that the API server takes. */
  readonly args?: readonly unknown[];
  readonly container?: object;
  readonly pod?: object;
  readonly spec?: object;
  readonly name?: string;
}

export const CSI_DRIVER = { kind: "CSIDriver", metadata: { name: "x.csi" } };

/** What the doctor says of these objects, but for what is well. */
export function said(...objects: readonly object[]): readonly string[] {
  const read = objects.map((object) => ({ file: "a.yaml", object }));
  return findingsOf(MANIFEST_CHECKS, readDeployments(read, settingsOf))
    .filter(({ status }) => status !== "ok")
    .map(({ code, status, text, fix }) => `${code} ${status}: ${text} -> ${fix}`);
}
