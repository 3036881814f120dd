import type { RegistrationReport } from "../../../../src/registrar/registration/self-report";
import type { Report } from "../../../../src/tools/doctor/findings/report";
import type { DirectoryFacts } from "../../../../src/tools/doctor/node/read/directory";
import type { Facts } from "../../../../src/tools/doctor/node/read/gather";
import { reportOn } from "../../../../src/tools/doctor/node/report";

type Folder = Extract<DirectoryFacts, { readonly kind: "directory" }>;

const DIRECTORY = "/registration";
const CSI = "/csi/csi.sock";

export function placeAt(path: string, fileSystem = "ext4", isMountPoint = true) {
  const mount = { device: "8:1", mountPoint: DIRECTORY, isWholeFileSystem: false };
  return { path, fileSystem, isMountPoint, ...mount };
}

export interface Changes extends Partial<Omit<Facts, "host">> {
  /** Of the registration directory. */
  readonly folder?: Partial<Folder>;
  readonly host?: Partial<Facts["host"]>;
}

/** What is seen in the pod of a driver that is well, by a registrar that does not tell. */
export function healthyFacts({ folder, host, ...facts }: Changes = {}): Facts {
  const endpoint = "/var/lib/kubelet/plugins/x.csi/csi.sock";
  const missing = { kind: "missing", path: endpoint, isDirectoryInSight: false } as const;
  const ownership = { mode: 0o755, uid: 0, gid: 0 };
  const identity = { kind: "answered", value: { name: "x.csi", vendorVersion: "1", manifest: {} } } as const;
  const plugin = { type: "CSIPlugin", name: "x.csi", endpoint, supportedVersions: ["1.0.0"] };
  return {
    target: { csiSocketPath: CSI, kubeletRegistrationPath: endpoint, pluginRegistrationPath: DIRECTORY },
    driver: {
      socket: { kind: "accepting", path: CSI, ownership, inode: "1:2" },
      identity,
      nodeInfo: { kind: "answered", value: { nodeId: "n1", maxVolumesPerNode: 0, accessibleTopology: null } },
    },
    hostPath: { kind: "unknown" },
    found: [],
    deadSockets: [],
    socketsOnHost: new Map(),
    leftOut: [],
    unreadPaths: [],
    processes: { registrars: [], kubelets: [], unread: [] },
    kubeletPath: missing,
    directory: {
      kind: "directory",
      path: DIRECTORY,
      ownership: { mode: 0o750, uid: 0, gid: 0 },
      unwritable: undefined,
      place: placeAt("/var/lib/kubelet/plugins_registry"),
      kubeletSocket: { kind: "missing", path: "/device-plugins/kubelet.sock", isDirectoryInSight: false },
      ...folder,
    },
    registrations: [
      {
        socket: { kind: "accepting", path: `${DIRECTORY}/x.csi-reg.sock`, ownership, inode: "1:3" },
        info: { kind: "answered", value: plugin },
        report: undefined,
        endpoint: { socket: missing, identity: undefined },
      },
    ],
    host: { uid: 0, otherDirectories: [], ...host },
    ...facts,
  };
}

export const reporting = (
  state: string,
  report: Partial<RegistrationReport> = {},
): Pick<Facts, "registrations"> => ({
  registrations: healthyFacts().registrations.map((one) => ({
    ...one,
    report: { state, since: 0, hasKubeletCalled: false, standbys: 0, ...report },
  })),
});

/** What a check says: `problem: x.csi has ...; fix: ...`, a line for each finding. */
export const linesOf = (check: string, { findings }: Pick<Report, "findings">): readonly string[] =>
  findings
    .filter((finding) => finding.check === check)
    .map(({ status, subject, text, fix, command }) =>
      [
        `${status}: ${subject} ${text}`,
        ...(fix ? [`; fix: ${fix}`] : []),
        command ? `: ${command}` : "",
      ].join(""),
    );

/** What a check says of healthy facts that were changed. */
export const sayings = (check: string, changes: Changes): readonly string[] =>
  linesOf(check, reportOn(healthyFacts(changes)));
