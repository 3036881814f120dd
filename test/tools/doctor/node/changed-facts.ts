import type { RegistrationReport } from "../../../../src/registrar/registration/self-report";
import type { CallFailure, Why } from "../../../../src/tools/doctor/findings/seen";
import { startReading, truth, unsoughtIf } from "../../../../src/tools/doctor/findings/seen";
import type { NodePart, SeenDriver } from "../../../../src/tools/doctor/node/read/facts";
import { unreadAt } from "../../../../src/tools/doctor/node/read/facts";
import { hostsPath } from "../../../../src/tools/doctor/node/read/paths";
import type { RunningRegistrar } from "../../../../src/tools/doctor/node/read/processes";
import { hiddenAt, type SocketFacts } from "../../../../src/tools/doctor/node/read/socket";
import type { RegistrationFacts } from "../../../../src/tools/doctor/node/read/sockets-found";
import { type Changes, healthyFacts, healthyRegistrations } from "./healthy-facts";

// Facts of a healthy node of which one is another, by what that is.

export const PLUGINS = "/var/lib/kubelet/plugins";
export const ENDPOINT = `${PLUGINS}/x.csi/csi.sock`;
export const REGISTRY = "/var/lib/kubelet/plugins_registry";
export const healthy = healthyFacts();

/** More of what is seen; lists that the healthy facts have empty. */
export interface More extends Changes {
  readonly drivers?: readonly SeenDriver[];
  readonly dead?: readonly SocketFacts[];
  readonly registrars?: readonly RunningRegistrar[];
  readonly onHost?: readonly { readonly inode: string; readonly path: string }[];
  /** Whether the rest of kubelet's root is not mounted here. */
  readonly isAlone?: boolean;
}

export function factsOf({
  drivers = [],
  dead = [],
  registrars = [],
  onHost = [],
  isAlone = false,
  ...changes
}: More) {
  const facts = healthyFacts(changes);
  const reading = startReading<NodePart>();
  const { gaps = [] } = changes;
  const lacking = (part: NodePart) => gaps.filter((gap) => gap.part === part);
  const unsought = unsoughtIf(isAlone, "sockets", "/");
  const all = [...(facts.driver ? [facts.driver] : []), ...drivers];
  const found = dead.map((socket, at) => ({ socket, fits: truth(at % 2 === 0) }));
  return {
    ...facts,
    allDrivers: reading.list(all, lacking("sockets")).with(unsought),
    deadSockets: reading.list(found, lacking("sockets")).with(unsought),
    socketsOnHost: reading
      .list(onHost.map(({ inode, path }) => ({ inode, path: hostsPath(path) })))
      .with(unsought),
    processes: { ...facts.processes, registrars: facts.processes.registrars.with(reading.list(registrars)) },
    gaps: [...facts.gaps, ...gaps],
  };
}

const ownership = { mode: 0o755, uid: 0, gid: 0 };
export const socketAt = (path: string, kind: string, more: object = {}, inode = "1:2") =>
  ({
    kind,
    path,
    ...(/accepting|dead|stuck/.test(kind) ? { ownership, inode } : {}),
    ...more,
  }) as SocketFacts;
const unreadSocket = (path: string, errno: string) =>
  ({ ...unreadAt("sockets", path, errno), path, errno }) as SocketFacts;
export const SOCKETS: readonly ((path: string) => SocketFacts)[] = [
  (path) => socketAt(path, "accepting"),
  (path) => socketAt(path, "accepting", {}, "7:7"),
  (path) => socketAt(path, "dead", { explanation: "ECONNREFUSED: no process listens" }),
  (path) => socketAt(path, "stuck", { explanation: "EAGAIN: its queue is full" }),
  (path) => socketAt(path, "missing"),
  (path) => socketAt(path, "no-directory"),
  hiddenAt,
  (path) => socketAt(path, "not-a-socket", { fileType: "a directory" }),
  (path) => socketAt(path, "not-a-socket", { fileType: "a datagram socket" }),
  (path) => socketAt(path, "too-long", { bytes: 120 }),
  ...["ELOOP", "ENOTDIR", "ENAMETOOLONG"].map(
    (errno) => (path: string) => socketAt(path, "broken", { errno }),
  ),
  ...["EACCES", "ETIMEDOUT", "ENAMETOOLONG"].map((errno) => (path: string) => unreadSocket(path, errno)),
];

/** What tells one change from another. */
export const brief = (one: object | undefined) =>
  JSON.stringify(one, [
    ...["kind", "errno", "fileType", "inode", "code", "gap", "why", "value", "name", "nodeId", "fileSystem"],
    ...["maxVolumesPerNode", "accessibleTopology", "segments", "topology.x/0", "topology.x/6", "isTooLarge"],
  ])?.replaceAll('"', "") ?? "not asked";

export const failed = (
  call: string,
  code: string,
  more: Partial<CallFailure> & { isTooLarge?: boolean } = {},
) => ({
  ...({ kind: "failed", call, code, message: "its words" } as const),
  ...(code === "DeadlineExceeded" && { late: { afterMs: 1_000, who: "its caller", waitsMs: 1_000 } }),
  ...more,
});
const named = (name: string, vendorVersion = "1") =>
  ({ kind: "answered", value: { name, vendorVersion, manifest: {} } }) as const;
export const late = (call: string) => ({
  ...{ kind: "call", call, code: "DeadlineExceeded", message: "late" },
  late: { afterMs: 1_000, who: "kubelet", waitsMs: 120_000 },
});
const unreadCall = (part: NodePart, why: object) => unreadAt(part, "/csi/csi.sock", why as Why);
const IDENTITIES: readonly SeenDriver["identity"][] = [
  undefined,
  ...["", "y.csi", "Bad_Name", "-x", "x/y", "x".repeat(64), "x.csi"].map((name) => named(name, "")),
  ...["DeadlineExceeded", "Unimplemented", "Unavailable"].map((code) => failed("GetPluginInfo", code)),
  unreadCall("GetPluginInfo", late("GetPluginInfo")),
  unreadCall("GetPluginInfo", { kind: "starved" }),
];
const node = (more: object) => ({
  kind: "answered" as const,
  value: { nodeId: "n1", maxVolumesPerNode: 0, accessibleTopology: null, ...more },
});
const segments = (count: number, value = "b") => ({
  segments: Object.fromEntries(Array.from({ length: count }, (_, at) => [`topology.x/${at}`, value])),
});
const NODE_INFOS: readonly SeenDriver["nodeInfo"][] = [
  undefined,
  ...["", "n".repeat(300)].map((nodeId) => node({ nodeId })),
  ...[-1, 1, 25].map((maxVolumesPerNode) => node({ maxVolumesPerNode })),
  ...[segments(1), segments(7), segments(1, "not/valid"), segments(0)].map((accessibleTopology) =>
    node({ accessibleTopology }),
  ),
  ...["DeadlineExceeded", "Unimplemented", "Internal"].map((code) => failed("NodeGetInfo", code)),
  failed("NodeGetInfo", "ResourceExhausted", { isTooLarge: true }),
  unreadCall("NodeGetInfo", late("NodeGetInfo")),
];

export const driverAt = (
  path: string,
  name: string,
  more: Partial<SeenDriver> = {},
  inode = "1:9",
): SeenDriver => ({
  socket: socketAt(path, "accepting", {}, inode),
  identity: named(name),
  ...{ spoken: "http2", nodeInfo: node({}) },
  ...more,
});
export const own = healthy.driver ?? driverAt("/csi/csi.sock", "x.csi");
const [first] = healthyRegistrations() as [RegistrationFacts];
const plugin = first.info?.kind === "answered" ? first.info.value : undefined;
const published = (more: object, found: Partial<RegistrationFacts> = {}): RegistrationFacts => ({
  ...first,
  info: { kind: "answered", value: { ...plugin, ...more } as NonNullable<typeof plugin> },
  ...found,
});
const report = (more: Partial<RegistrationReport>): RegistrationReport => ({
  ...{ state: "registered", changedAtMs: 0, hasKubeletCalled: true, standbys: 0, ...more },
});
const unanswered = (found: Partial<RegistrationFacts>) => ({ ...first, info: undefined, ...found });
const at = (path: string) => ({ socket: socketAt(path, "accepting", {}, "1:8") });
const GetInfo = (code: string) => failed("GetInfo", code);
export const REGISTRATIONS: Readonly<Record<string, readonly RegistrationFacts[]>> = {
  "no registration": [],
  ...Object.fromEntries(
    SOCKETS.slice(2).map((socket) => {
      const found = socket(first.socket.path);
      const info = found.kind === "unread" ? unreadAt("GetInfo", found.path, "EMFILE") : undefined;
      return [`a registration socket that is ${brief(found)}`, [unanswered({ socket: found, info })]];
    }),
  ),
  "a link to nothing": [unanswered({ link: "/gone" })],
  "a link to a dead socket": [unanswered({ link: "/gone", socket: socketAt(first.socket.path, "dead") })],
  "a registrar that hangs": [unanswered({ info: GetInfo("DeadlineExceeded") })],
  "a registrar that fails": [unanswered({ info: GetInfo("Internal") })],
  "a registrar that was given up": [unanswered({ info: unreadAt("GetInfo", "/r", late("GetInfo") as Why) })],
  ...Object.fromEntries(
    ["registered", "listening", "waiting", "refused", "standby", "stopped"].flatMap((state) => [
      [`${state}`, [published({ report: report({ state }) })]],
      [`${state}, with a reason`, [published({ report: report({ state, reason: "its reason" }) })]],
      [`${state}, not called`, [published({ report: report({ state, hasKubeletCalled: false }) })]],
      [`${state}, refused`, [published({ report: report({ state, kubeletError: "kubelet's words" }) })]],
    ]),
  ),
  ...Object.fromEntries(
    [
      "dial unix /x: connect: no such file",
      "invalid node name",
      "CSI driver x.csi already registered at endpoint",
      "invalid versions",
    ].map((kubeletError) => [
      `refused: ${kubeletError}`,
      [published({ report: report({ state: "refused", kubeletError }) })],
    ]),
  ),
  "an impossible time": [published({ report: report({ changedAtMs: 1e20 }) })],
  "published in the future": [published({ report: report({ state: "listening", changedAtMs: 1e8 }) })],
  standbys: [published({ report: report({ standbys: 2 }) })],
  "standbys of two": [
    published({ report: report({ standbys: 1 }) }),
    published({ name: "y.csi", report: report({ standbys: 1 }) }, at("/registration/y.csi-reg.sock")),
  ],
  "two of one driver": [published({}), published({}, at("/registration/x.csi-other-reg.sock"))],
  "two dead ones": ["x", "y"].map((name) =>
    unanswered({
      socket: socketAt(`/registration/${name}.csi-reg.sock`, "dead", { explanation: "ECONNREFUSED" }),
    }),
  ),
  "a dead alias": [
    published({}),
    unanswered({
      socket: socketAt("/registration/x.csi-_k3f-reg.sock", "dead", { explanation: "ECONNREFUSED" }),
    }),
  ],
  "a dead alias alone": [
    unanswered({
      socket: socketAt("/registration/x.csi-_k3f-reg.sock", "dead", { explanation: "ECONNREFUSED" }),
    }),
  ],
  "a dead one beside its alias": [
    published({}, at("/registration/x.csi-_k3f-reg.sock")),
    unanswered({ socket: socketAt(first.socket.path, "dead", { explanation: "ECONNREFUSED" }) }),
  ],
  "a dead one of the old name": [
    published({ name: "z.csi" }, at("/registration/z.csi-reg.sock")),
    unanswered({ socket: socketAt("/registration/x.csi-reg.sock", "dead", { explanation: "ECONNREFUSED" }) }),
  ],
  "no name": [published({ name: "" })],
  "another name": [published({ name: "y.csi" })],
  "no versions": [published({ supportedVersions: [] })],
  "old versions": [published({ supportedVersions: ["0.9"] })],
  "old versions, registered": [published({ supportedVersions: ["0.9"], report: report({}) })],
  "no endpoint": [published({ endpoint: "" }, { endpoint: undefined })],
  "a relative endpoint": [published({ endpoint: "csi.sock" }, { endpoint: undefined })],
  "another endpoint": [
    published({ endpoint: "/other/csi.sock" }, { endpoint: driverAt("/other/csi.sock", "x.csi") }),
  ],
  "a DRA plugin": [published({ type: "DRAPlugin", name: "gpu.x" })],
  "a DRA plugin of ours": [
    published({
      type: "DRAPlugin",
      name: "gpu.x",
      report: report({ state: "refused", kubeletError: "no handler" }),
    }),
  ],
  "a device plugin beside it": [
    published({}),
    published(
      { type: "DevicePlugin", name: "x/gpu", report: report({ state: "listening" }) },
      at("/registration/gpu.sock"),
    ),
  ],
  "a strange socket beside it": [
    published({}),
    unanswered({ ...at("/registration/what.sock"), info: GetInfo("Unimplemented") }),
  ],
};
const withPath = (path: string | undefined, found?: SocketFacts): More => ({
  target: { ...healthy.target, kubeletRegistrationPath: path },
  ...(found && { kubeletPath: found }),
});
export const PATHS: Readonly<Record<string, More>> = Object.fromEntries([
  ["no kubelet path", withPath(undefined)],
  ...[
    "csi.sock",
    `unix://${ENDPOINT}`,
    `${REGISTRY}/x.sock`,
    "/var/lib/kubelet/x.sock",
    "/csi/csi.sock",
    "/p/*/csi.sock",
  ].map((path) => [`the kubelet path ${path}`, withPath(path, socketAt(path, "accepting"))]),
  ...SOCKETS.flatMap((socket) => [
    [`at kubelet's path ${brief(socket(ENDPOINT))}`, withPath(ENDPOINT, socket(ENDPOINT))],
    [
      `the same, and no driver ${brief(socket(ENDPOINT))}`,
      {
        ...withPath(ENDPOINT, socket(ENDPOINT)),
        driver: { ...own, socket: socketAt("/csi/csi.sock", "missing"), identity: undefined },
      },
    ],
    [
      `at its endpoint ${brief(socket(ENDPOINT))}`,
      { registrations: [published({}, { endpoint: { socket: socket(ENDPOINT), identity: undefined } })] },
    ],
  ]),
  ...IDENTITIES.map((identity) => [
    `at its endpoint ${brief(identity)}`,
    { registrations: [published({}, { endpoint: { socket: socketAt(ENDPOINT, "accepting"), identity } })] },
  ]),
]);

export const DRIVERS: Readonly<Record<string, More>> = Object.fromEntries([
  ...SOCKETS.map((socket) => [
    `its socket ${brief(socket("/csi/csi.sock"))}`,
    { driver: { socket: socket("/csi/csi.sock"), identity: undefined } },
  ]),
  ...IDENTITIES.map((identity) => [
    `its name ${brief(identity)}`,
    { driver: { ...own, identity, nodeInfo: identity?.kind === "answered" ? own.nodeInfo : undefined } },
  ]),
  ...NODE_INFOS.map((nodeInfo) => [`its node ${brief(nodeInfo)}`, { driver: { ...own, nodeInfo } }]),
  ...(["other", "nothing"] as const).map((spoken) => [
    `it speaks ${spoken}`,
    { driver: { ...own, identity: failed("GetPluginInfo", "Unavailable"), nodeInfo: undefined, spoken } },
  ]),
]);

export const REGISTERED = Object.fromEntries(
  Object.entries(REGISTRATIONS).map(([what, registrations]) => [what, { registrations }]),
);

/** What is wrong in two places at a time. */
const BAD_DRIVERS = Object.entries(DRIVERS).filter((_, index) => [2, 4, 14, 17, 24, 28, 35].includes(index));
const BAD_REGISTRATIONS = [
  "no registration",
  "listening, not called",
  "two dead ones",
  "a registrar that hangs",
  "two of one driver",
].concat("registered", "refused: dial unix /x: connect: no such file", "refused: invalid node name");
export const PAIRS = Object.fromEntries(
  BAD_DRIVERS.flatMap(([what, changes]) =>
    BAD_REGISTRATIONS.map((one) => [
      `${what}; ${one}`,
      { ...changes, registrations: REGISTRATIONS[one] ?? [] },
    ]),
  ),
);

const SECOND = `${PLUGINS}/second/csi.sock`;
const BESIDE: Readonly<Record<string, SeenDriver>> = {
  "one of its name": driverAt(SECOND, "x.csi"),
  "one of another name": driverAt(SECOND, "y.csi"),
  "one that says no name": driverAt(SECOND, "", { identity: undefined, nodeInfo: undefined }),
  "a controller of its name": driverAt(SECOND, "x.csi", { nodeInfo: failed("NodeGetInfo", "Unimplemented") }),
};
/** Another driver beside it, and both seen on the host. */
export const SEVERAL: Readonly<Record<string, More>> = Object.fromEntries(
  Object.entries(BESIDE).flatMap(([what, other]) =>
    ["no registration", "another endpoint", "a dead alias alone", "no endpoint"].map((one) => [
      `${what}; ${one}`,
      {
        registrations: REGISTRATIONS[one] ?? [],
        drivers: [other],
        onHost: [
          { inode: "1:2", path: ENDPOINT },
          { inode: "1:9", path: SECOND },
        ],
      },
    ]),
  ),
);
