import type { RegistrationReport } from "../../../../src/registrar/registration/self-report";
import type { Report } from "../../../../src/tools/doctor/findings/report";
import { listFrom, startReading, type Truth } from "../../../../src/tools/doctor/findings/seen";
import type { DirectoryFacts } from "../../../../src/tools/doctor/node/read/directory";
import {
  gapsIn,
  type NodeGap,
  type NodePart,
  type SeenDriver,
} from "../../../../src/tools/doctor/node/read/facts";
import { type Facts, hostPathOf } from "../../../../src/tools/doctor/node/read/gather";
import { type PathOnHost, pathHere } from "../../../../src/tools/doctor/node/read/paths";
import {
  beyondOwn,
  type RunningKubelet,
  type RunningRegistrar,
  UNNAMED,
} from "../../../../src/tools/doctor/node/read/processes";
import { hiddenAt, type SocketFacts } from "../../../../src/tools/doctor/node/read/socket";
import type { RegistrationFacts } from "../../../../src/tools/doctor/node/read/sockets-found";
import { reportOn } from "../../../../src/tools/doctor/node/report";
import { inWholeWords } from "../findings/whole-words";

type Folder = Extract<DirectoryFacts, { readonly kind: "directory" }>;

const DIRECTORY = "/registration";
const CSI = "/csi/csi.sock";

export function placeAt(path: string, fileSystem = "ext4", isMountPoint = true) {
  const mount = { device: "8:1", mountPoint: DIRECTORY, isWholeFileSystem: false };
  return { path, fileSystem, isMountPoint, ...mount };
}

type Lists = Pick<Facts, "allDrivers" | "deadSockets" | "registrations" | "processes">;

/** What is to be seen otherwise, its lists without what they know of themselves. */
export interface Changes extends Partial<Omit<Facts, "host" | "directory" | "gaps" | keyof Lists>> {
  /** Of the registration directory. */
  readonly folder?: Partial<Folder>;
  readonly directory?: DirectoryFacts;
  readonly host?: Partial<Facts["host"]>;
  readonly registrations?: readonly RegistrationFacts[];
  readonly kubelets?: readonly RunningKubelet[];
  /** What could not be read: the lists of the part do not have all. */
  readonly gaps?: readonly NodeGap[];
}

/** What is seen in the pod of a driver that is well, with kubelet's own socket, by a registrar that does not tell. */
export function healthyFacts(changes: Changes = {}): Facts {
  const { folder, host, directory, gaps = [], registrations, kubelets, ...facts } = changes;
  const endpoint = "/var/lib/kubelet/plugins/x.csi/csi.sock";
  const missing = hiddenAt(endpoint);
  const ownership = { mode: 0o755, uid: 0, gid: 0 };
  const identity = { kind: "answered", value: { name: "x.csi", vendorVersion: "1", manifest: {} } } as const;
  const nodeInfo = { nodeId: "n1", maxVolumesPerNode: 0, accessibleTopology: null };
  const own: SeenDriver = {
    socket: { kind: "accepting", path: pathHere(CSI), ownership, inode: "1:2" },
    identity,
    ...{ spoken: "http2", nodeInfo: { kind: "answered", value: nodeInfo } },
  };
  const driver = "driver" in changes ? changes.driver : own;
  const reading = startReading<NodePart>();
  const published = registrations ?? healthyRegistrations();
  const lacking = (part: NodePart) => gaps.filter((gap) => gap.part === part);
  const seen = reading.list(kubelets ?? [], lacking("processes"));
  const [unread] = lacking("directory").filter(({ subject }) => subject === DIRECTORY);
  const there: Folder = {
    kind: "directory",
    path: DIRECTORY,
    ownership: { mode: 0o750, uid: 0, gid: 0 },
    unwritable: undefined,
    inodes: { files: 9, ffree: 9 },
    place: placeAt("/var/lib/kubelet/plugins_registry"),
    kubeletSocket: {
      kind: "accepting",
      path: pathHere("/device-plugins/kubelet.sock"),
      ownership,
      inode: "1:9",
    },
    ...folder,
  };
  return {
    target: { csiSocketPath: CSI, kubeletRegistrationPath: endpoint, pluginRegistrationPath: DIRECTORY },
    driver,
    hostPath: hostPathOf({ kind: "unknown" }),
    allDrivers: reading.list(driver ? [driver] : [], lacking("sockets")),
    deadSockets: reading.list<{ socket: SocketFacts; fits: Truth }>([], lacking("sockets")),
    socketsOnHost: reading.list<{ inode: string; path: PathOnHost }>([]),
    processes: {
      registrars: reading.list<RunningRegistrar>([], lacking("processes")).with(UNNAMED),
      kubelets: seen.with(beyondOwn(seen)),
    },
    kubeletPath: missing,
    directory: unread ? reading.unread(unread) : (directory ?? there),
    registrations: reading.list(published, [
      ...lacking("directory"),
      ...published.flatMap(({ socket }) => gapsIn(socket)),
    ]),
    host: { uid: 0, otherDirectories: listFrom([]), ...host },
    nowMs: 86_400_000,
    gaps: reading.gaps(),
    ...facts,
  };
}

/** The registration of the driver, by a registrar that does not tell. */
export function healthyRegistrations(report?: RegistrationReport): readonly RegistrationFacts[] {
  const endpoint = "/var/lib/kubelet/plugins/x.csi/csi.sock";
  const missing = hiddenAt(endpoint);
  const ownership = { mode: 0o755, uid: 0, gid: 0 };
  const plugin = { type: "CSIPlugin", name: "x.csi", endpoint, supportedVersions: ["1.0.0"], report };
  return [
    {
      socket: { kind: "accepting", path: pathHere(`${DIRECTORY}/x.csi-reg.sock`), ownership, inode: "1:3" },
      info: { kind: "answered", value: plugin },
      link: null,
      endpoint: { socket: missing, identity: undefined },
    },
  ];
}

export const reporting = (
  state: string,
  report: Partial<RegistrationReport> = {},
): { readonly registrations: readonly RegistrationFacts[] } => ({
  registrations: healthyRegistrations({
    state,
    changedAtMs: 0,
    hasKubeletCalled: false,
    standbys: 0,
    ...report,
  }),
});

/** What a check says: `problem: x.csi has ...; fix: ...`, a line for each finding. */
export const linesOf = (check: string, { findings }: Pick<Report, "findings">): readonly string[] =>
  inWholeWords(findings)
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
