import { beyond, listFrom, truth, type Why } from "../../../../src/tools/doctor/findings/seen";
import { type NodePart, unreadAt } from "../../../../src/tools/doctor/node/read/facts";
import type { RunningRegistrar } from "../../../../src/tools/doctor/node/read/processes";
import {
  brief,
  driverAt,
  ENDPOINT,
  failed,
  healthy,
  late,
  type More,
  PLUGINS,
  REGISTRATIONS,
  REGISTRY,
  SOCKETS,
  socketAt,
} from "./changed-facts";
import { type Changes, healthyRegistrations, placeAt } from "./healthy-facts";

// What is another around the driver: the directory, the mounts, kubelet, other processes and drivers, and what is unread.

const HOST_PATHS: readonly Changes["hostPath"][] = [
  { kind: "fits" },
  { kind: "wrong", problem: "on the host it is /h", fix: "write it" },
] as const;

const WHYS: readonly Why[] = [
  ...[
    "EACCES",
    "EPERM",
    "EIO",
    "EMFILE",
    "ETIMEDOUT",
    "ECONNRESET",
    "ELOOP",
    "ENOTDIR",
    "EILSEQ",
    "errno 77",
    "odd",
  ].map((errno) => ({ kind: "errno", errno }) as const),
  { kind: "mount", fileSystem: "fuse" },
  { kind: "cut", read: 500, there: 5_000 },
  { kind: "moving" },
  { kind: "deep", from: "/x" },
  { kind: "aside" },
  { kind: "starved" },
  { kind: "call", call: "GetInfo", code: "Internal", message: "its words" },
  late("GetInfo") as Why,
  { kind: "object", text: "its arguments are not understood" },
  { kind: "fault", error: "TypeError: x" },
];
const PARTS: readonly NodePart[] = [
  "directory",
  "sockets",
  "processes",
  "GetInfo",
  "GetPluginInfo",
  "NodeGetInfo",
];

export const registrar = (more: object = {}) =>
  ({
    ...{ pid: 5, isNodeWide: false, directory: REGISTRY, isHere: true, endpoint: ENDPOINT },
    ...{ socket: socketAt("/csi/csi.sock", "accepting"), isElsewhere: truth(false) },
    ...{ csiSocketPath: listFrom([]), ...more },
  }) as object as RunningRegistrar;

export const kubelet = (more: object = {}) => ({
  ...{ pid: 7, directory: REGISTRY, is: () => false, isHere: true, isDeaf: truth(false), ...more },
});
const UNKNOWN = { part: "processes", subject: "/proc/7", why: { kind: "errno", errno: "EACCES" } } as const;
const waiting = (kind: string) =>
  registrar({
    endpoint: "/w",
    socket: socketAt("/csi/w.sock", kind, kind === "dead" ? { explanation: "no" } : {}),
  });
export const other = registrar({
  ...{ isHere: false, isElsewhere: truth(true) },
  directory: "/k0s/plugins_registry",
  endpoint: "/k0s/y.sock",
});

export const MACHINE: Readonly<Record<string, More>> = {
  "a start problem": { target: { ...healthy.target, startProblem: "its words" } },
  "no directory": { directory: { kind: "missing", path: REGISTRY } },
  "no directory, and none named": {
    directory: { kind: "missing", path: REGISTRY },
    target: { ...healthy.target, isGuess: true },
  },
  "a file in place of the directory": {
    directory: { kind: "not-a-directory", path: REGISTRY, fileType: "a file" },
  },
  ...Object.fromEntries(
    ["EROFS", "EACCES", "EIO"].map((errno) => [`not writable: ${errno}`, { folder: { unwritable: errno } }]),
  ),
  "no free inode": { folder: { inodes: { files: 9, ffree: 0 } } },
  "unknown inodes": { folder: { inodes: "EIO" } },
  "another mode": { folder: { ownership: { mode: 0o107, uid: 1, gid: 2 } } },
  ...Object.fromEntries(
    [
      REGISTRY,
      "/plugins_registry",
      "/srv/kubelet/plugins_registry",
      "/srv",
      "/v/kubernetes.io~empty-dir/r",
    ].flatMap((path) =>
      ["ext4", "overlay"].map((fileSystem) => [
        `it is ${path} on ${fileSystem}`,
        { folder: { place: placeAt(path, fileSystem) } },
      ]),
    ),
  ),
  "unread mounts": { folder: { place: unreadAt("directory", "/proc/self/mountinfo", "EIO") } },
  "beside its mount": { folder: { path: REGISTRY, place: placeAt(REGISTRY, "ext4", false) } },
  ...Object.fromEntries(
    SOCKETS.map((socket) => {
      const kubeletSocket = socket("/device-plugins/kubelet.sock");
      return [`kubelet's socket is ${brief(kubeletSocket)}`, { folder: { kubeletSocket } }];
    }),
  ),
  "another root is there": { host: { otherDirectories: listFrom([{ path: "/k0s", isThere: truth(true) }]) } },
  "another root is not there": {
    host: { otherDirectories: listFrom([{ path: "/k0s", isThere: truth(false) }]) },
  },
  "another root is unread": {
    host: { otherDirectories: listFrom([{ path: "/k0s", isThere: truth(UNKNOWN) }]) },
  },
  kubelet: { kubelets: [kubelet()] },
  "a deaf kubelet": { kubelets: [kubelet({ isDeaf: truth(true) })] },
  "a deaf kubelet of another directory": {
    kubelets: [kubelet({ isDeaf: truth(true), isHere: false, directory: "/k0s" })],
  },
  "a kubelet that may be deaf": { kubelets: [kubelet({ isDeaf: truth(UNKNOWN) })] },
  "a kubelet that changes": {
    kubelets: [kubelet({ isDeaf: truth({ ...UNKNOWN, why: { kind: "moving" } }) })],
  },
  ...Object.fromEntries(
    ["missing", "no-directory", "dead", "stuck", "accepting"].map((kind) => [
      `a registrar whose socket is ${kind}`,
      { registrars: [waiting(kind)] },
    ]),
  ),
  "its registrar runs": { registrars: [registrar()] },
  "its registrar runs twice": { registrars: [registrar(), registrar({ pid: 6 })] },
  "a node-wide registrar": { registrars: [registrar({ isNodeWide: true })] },
  "two node-wide registrars": {
    registrars: [registrar({ isNodeWide: true }), registrar({ isNodeWide: true, pid: 6 })],
  },
  "a registrar of another directory": {
    registrars: [{ ...other, isElsewhere: truth(beyond("processes")) }],
  },
  "a registrar of another directory, and a kubelet": { registrars: [other], kubelets: [kubelet()] },
  "a registrar of another directory, and two kubelets": {
    registrars: [other],
    kubelets: [kubelet({ isHere: false, directory: "/k0s" }), kubelet({ pid: 8 })],
  },
  "a registrar of a watched directory": {
    registrars: [{ ...other, isElsewhere: truth(false) }],
    kubelets: [kubelet()],
  },
  "a registrar of an unknown directory": {
    registrars: [{ ...other, isElsewhere: truth(UNKNOWN) }],
    kubelets: [kubelet()],
  },
  "another driver": { drivers: [driverAt(`${PLUGINS}/y.csi/csi.sock`, "y.csi")] },
  "another driver beside it": { drivers: [driverAt("/csi/other.sock", "y.csi")] },
  "a twin": { drivers: [driverAt(`${PLUGINS}/y.csi/csi.sock`, "x.csi")] },
  "a controller": {
    drivers: [
      driverAt(`${PLUGINS}/y.csi/csi.sock`, "y.csi", { nodeInfo: failed("NodeGetInfo", "Unimplemented") }),
    ],
  },
  "a driver with an unsafe name": { drivers: [driverAt(`${PLUGINS}/y.csi/csi.sock`, "../x")] },
  "a driver without a name": {
    drivers: [
      driverAt(`${PLUGINS}/y.csi/csi.sock`, "", { identity: failed("GetPluginInfo", "Unavailable") }),
    ],
  },
  ...Object.fromEntries(
    (["other", "nothing", "http2"] as const).map((spoken) => [
      `another server that speaks ${spoken}`,
      {
        drivers: [
          driverAt("/csi/other.sock", "", {
            ...{ identity: failed("GetPluginInfo", "Unavailable"), nodeInfo: undefined, spoken },
          }),
        ],
      },
    ]),
  ),
  "two dead sockets": {
    dead: ["y", "z"].map((name) =>
      socketAt(`${PLUGINS}/${name}.csi/csi.sock`, "dead", { explanation: "no" }, name),
    ),
  },
  "a dead socket of its registration": {
    dead: [socketAt(`${PLUGINS}/y.csi/csi.sock`, "dead", { explanation: "no" })],
  },
  "its socket on the host": { onHost: [{ inode: "1:2", path: `${PLUGINS}/seen/csi.sock` }] },
  ...Object.fromEntries(HOST_PATHS.map((hostPath) => [`the host path ${brief(hostPath)}`, { hostPath }])),
  ...Object.fromEntries(
    PARTS.flatMap((part) =>
      WHYS.map((why) => [`a gap of ${part}: ${brief(why)}`, { gaps: [{ part, subject: "/it", why }] }]),
    ),
  ),
  ...Object.fromEntries(
    ["listening", "listening, not called", "waiting, not called", "registered"].flatMap((state) => {
      const registrations = REGISTRATIONS[state] ?? [];
      const on = (path: string, fileSystem?: string) => ({ folder: { place: placeAt(path, fileSystem) } });
      const changes: Record<string, More> = {
        "in another root": on("/srv/kubelet/plugins_registry"),
        "in another directory": on("/srv/plugins_registry"),
        "in the container": on("/r", "overlay"),
        "a kubelet hears": { kubelets: [kubelet()] },
        "a kubelet is deaf": { kubelets: [kubelet({ isDeaf: truth(true) })] },
        "a kubelet watches elsewhere": { kubelets: [kubelet({ isHere: false, directory: "/k0s" })] },
        "kubelet is down": { folder: { kubeletSocket: socketAt("/k.sock", "dead", { explanation: "no" }) } },
      };
      return Object.entries(changes).map(([what, more]) => [`${state}; ${what}`, { ...more, registrations }]);
    }),
  ),
  ...Object.fromEntries(
    HOST_PATHS.flatMap((hostPath) =>
      [true, false].map((isMountPoint) => [
        `${brief(hostPath)}; its driver answers; a mount of its own: ${isMountPoint}`,
        {
          hostPath,
          folder: { path: REGISTRY, place: placeAt(REGISTRY, "ext4", isMountPoint) },
          registrations: healthyRegistrations().map((one) => ({ ...one, endpoint: healthy.driver })),
        },
      ]),
    ),
  ),
  "nothing is there, and nothing was named": {
    directory: { kind: "missing", path: REGISTRY },
    target: { ...healthy.target, isGuess: true },
    driver: undefined,
    registrations: [],
  },
  "a gap of the directory": {
    gaps: [{ part: "directory", subject: "/registration", why: { kind: "errno", errno: "EACCES" } }],
  },
};
