import { parseNameLists } from "../../../../src/registrar/node-wide/name-lists";
import { itemsOf, trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import {
  beyond,
  listFrom,
  startReading,
  type Truth,
  truth,
} from "../../../../src/tools/doctor/findings/seen";
import { saysName, type View, viewOf } from "../../../../src/tools/doctor/node/judge/view";
import type { NodeGap, NodePart } from "../../../../src/tools/doctor/node/read/facts";
import type { HostPath } from "../../../../src/tools/doctor/node/read/gather";
import { pathHere } from "../../../../src/tools/doctor/node/read/paths";
import type { SocketFacts } from "../../../../src/tools/doctor/node/read/socket";
import type { RegistrationFacts } from "../../../../src/tools/doctor/node/read/sockets-found";
import { reportOn } from "../../../../src/tools/doctor/node/report";
import { driverAt, ENDPOINT, factsOf, failed, type More, own } from "./changed-facts";
import { WHOLE } from "./doctor-node";
import { type Changes, healthyFacts, healthyRegistrations, sayings } from "./healthy-facts";

const REGISTRY = "/var/lib/kubelet/plugins_registry";
const healthy = healthyFacts();

const UNREAD = {
  kind: "unread",
  gap: { part: "directory", subject: "/proc/self/mountinfo", why: { kind: "errno", errno: "EIO" } },
} as const;
const socket = (path: string, found: Partial<SocketFacts>) =>
  ({ path, ownership: { mode: 0, uid: 0, gid: 0 }, inode: "", ...found }) as SocketFacts;
const inodes = (found: { files: number; ffree: number } | string) => ({ folder: { inodes: found } });
const OTHER_ROOT = (isThere: boolean | NodeGap) => ({
  host: { otherDirectories: listFrom([{ path: "/k0s", isThere: truth(isThere) }]) },
});
const KUBELET = {
  ...{ pid: 7, directory: REGISTRY, is: () => false },
  ...{ isHere: true, isDeaf: truth(false) },
};
test("a file system that has no limit of inodes, or does not tell, is not full", () => {
  for (const found of [{ files: 0, ffree: 0 }, { files: 9, ffree: 1 }, "EIO"])
    expect(sayings("directory-writable", inodes(found))).toEqual([]);
});

test("a directory whose mounts, or whose like, cannot be read makes the report partial", () => {
  const hidden = { part: "directory", subject: "/k0s", why: { kind: "errno", errno: "EACCES" } } as const;
  for (const changes of [{ folder: { place: UNREAD } }, OTHER_ROOT(hidden)])
    expect(reportOn(healthyFacts(changes)).healthy).toBe(false);
});

test("a driver whose process hangs may have any name", () => {
  const hanging = { socket: socket("/y.sock", { kind: "stuck", inode: "7:7" }), identity: undefined };
  const ofOwn = viewOf(factsOf({ drivers: [hanging] })).drivers.filter(({ isNamed }) => isNamed);
  expect(trueOrNull(ofOwn.flatMap(({ twins }) => twins).contains())).toBe(null);
});

test("where the mounts cannot be read, what they may show to be wrong is not said to be well", () => {
  const accepting = socket(ENDPOINT, { kind: "accepting", inode: "1:2" });
  const endpoint = { socket: accepting, identity: own.identity };
  const registrations = healthyRegistrations().map((one) => ({ ...one, endpoint }));
  const said = (hostPath?: HostPath) =>
    ["registration-endpoint", "kubelet-path"].flatMap((check) =>
      sayings(check, { registrations, kubeletPath: accepting, ...(hostPath && { hostPath }) }),
    );
  const wrong = { kind: "wrong", path: "/other", problem: "on the host it is elsewhere", fix: "x" } as const;
  expect(said()).toEqual([
    `ok: x.csi is at the path that kubelet gets: ${ENDPOINT}`,
    `ok: ${ENDPOINT} is the path that kubelet dials, and accepts connections`,
  ]);
  expect(said(wrong).map((line) => line.slice(0, 8))).toEqual(["problem:", "problem:"]);
  expect(said(UNREAD)).toEqual(["unknown: /proc/self/mountinfo could not be judged: EIO"]);
});

test("a driver's one living registration socket is said to be the only one where each answer was read", () => {
  const gap = { part: "GetInfo", subject: "/y-reg.sock", why: { kind: "errno", errno: "EMFILE" } } as const;
  const hidden = healthyRegistrations().map((one) => ({
    ...one,
    ...{ path: gap.subject, info: { kind: "unread", gap } as const, endpoint: undefined },
  }));
  const saidWith = (more: typeof hidden) =>
    sayings("registration-duplicates", { registrations: [...healthyRegistrations(), ...more] });
  expect([saidWith([]), saidWith(hidden)]).toEqual([["ok: x.csi has one living registration socket"], []]);
});

test("where a mount may have the driver of a dead registrar, the report is partial", () => {
  const why = { kind: "mount", fileSystem: "fuse" } as const;
  const [left] = healthyRegistrations().map((one) => ({
    ...one,
    socket: { ...one.socket, kind: "dead", explanation: "ECONNREFUSED" } as SocketFacts,
    info: undefined,
    endpoint: undefined,
  }));
  const facts = healthyFacts({
    target: { ...healthy.target, ...WHOLE },
    driver: undefined,
    registrations: left ? [left] : [],
    gaps: [{ part: "sockets", subject: "/plugins/fuse", why }],
  });
  const { findings, healthy: isHealthy } = reportOn(facts);
  expect(findings.map(({ status, code }) => `${status} ${code}`)).toContain("unknown CSI019");
  expect(isHealthy).toBe(false);
});

test("what was not read of any part makes the report partial, also where no check asks for it", () => {
  const parts = ["directory", "sockets", "processes", "GetInfo", "GetPluginInfo", "NodeGetInfo"] as const;
  for (const part of parts) {
    const gap = { part, subject: "/it", why: { kind: "errno", errno: "EMFILE" } } as const;
    const missing = { kind: "missing", path: "/registration" } as const;
    const { findings } = reportOn({ ...healthyFacts({ directory: missing }), gaps: [gap] });
    expect(findings).toContainEqual(
      expect.objectContaining({
        subject: "/it",
        status: "unknown",
        fix: "raise the limit of open files: ulimit -n",
        text: expect.stringMatching(/^cannot be .*: EMFILE$/),
      }),
    );
  }
});

const elsewhere = { ...KUBELET, directory: "/k0s", isHere: false };
const accepts = { kubeletSocket: socket("/k.sock", { kind: "accepting" }) };

test.each<[what: string, Changes, watched: string | null]>([
  ["no kubelet is seen", {}, null],
  ["one answers beside the directory, and its process is not seen", { folder: accepts }, null],
  ["one watches another directory", { folder: accepts, kubelets: [elsewhere] }, "/k0s"],
  ["the second watches this one", { kubelets: [elsewhere, KUBELET] }, REGISTRY],
  ["the first watches this one", { kubelets: [KUBELET, elsewhere] }, REGISTRY],
])("the directory that kubelet watches, where %s", (_what, changes, watched) => {
  const seen = viewOf(healthyFacts(changes)).watched;
  expect(itemsOf(seen)[0] ?? null).toBe(watched);
});

const NAMELESS = { ...own, identity: failed("GetPluginInfo", "DeadlineExceeded"), nodeInfo: undefined };
const DEAD = socket("/registration/x.csi-reg.sock", { kind: "dead", explanation: "ECONNREFUSED" });
const LEFT = healthyRegistrations().map((one) => ({ ...one, socket: DEAD, info: undefined }));
const LIVING = { registrations: healthyRegistrations() };
const DIALLED = {
  registrations: healthyRegistrations().map((one) => ({ ...one, endpoint: { ...NAMELESS } })),
};
const names = parseNameLists({ deny: ["x.csi"] });

test.each<[what: string, ask: (view: View) => Truth, of: More]>([
  ["whether it is x.csi", (view) => view.drivers.contains((one) => saysName(one, "x.csi")), {}],
  ["the name that was asked for", (view) => view.targetNames.contains((one) => one === "y.csi"), {}],
  ["what it may be called", (view) => view.targetNames.contains(), { registrations: [] }],
  ["whether a list lets it in", ({ drivers }) => drivers.contains((one) => one.isWanted), {}],
  ["whether it is not node's", ({ drivers }) => drivers.contains(({ isNode }) => isNode.not()), {}],
  ["whether it is a node's", (view) => view.drivers.contains(({ isNode }) => isNode), {}],
  ["whether it is unclear", ({ drivers }) => drivers.contains((one) => one.mayBeUnclear), {}],
  ["whether it is registered", ({ drivers }) => drivers.contains((one) => one.isRegistered), LIVING],
  ["whether a socket is left", (view) => view.registrations.contains((one) => one.isLeft), {}],
  ["whether it is dialled", (view) => view.drivers.contains((one) => one.isDialled), DIALLED],
])("of a driver that does not say its name it is not known %s", (_what, ask, of) => {
  const target = { ...healthy.target, names };
  expect(trueOrNull(ask(viewOf(factsOf({ target, driver: NAMELESS, registrations: LEFT, ...of }))))).toBe(
    null,
  );
});

test("a driver that hangs may have any name", () => {
  const hanging = { ...own, identity: failed("GetPluginInfo", "DeadlineExceeded"), nodeInfo: undefined };
  const other = driverAt("/var/lib/kubelet/plugins/y.csi/csi.sock", "y.csi");
  const [one] = itemsOf(viewOf(factsOf({ driver: hanging, drivers: [other] })).drivers);
  const lists = one ? [one.names, one.whyNot, one.twins] : [];
  expect(lists.map((list) => trueOrNull(list.contains()))).toEqual([null, null, null]);
});

test("whether a dead registration socket is that of a driver that does not say its name is unknown", () => {
  for (const driver of [
    NAMELESS,
    { ...own, socket: { ...DEAD, path: pathHere("/csi/csi.sock") }, identity: undefined },
  ])
    expect(sayings("other-registrations", { driver, registrations: LEFT })).toEqual([
      expect.stringMatching(
        /^unknown: .*; whether it is of the driver that was asked for is not known; fix:/,
      ),
    ]);
});

test("which of two drivers with one name is registered, an endpoint that is not seen does not say", () => {
  const two = ["x.csi", "old"].map((at) => driverAt(`/plugins/${at}/csi.sock`, "x.csi", {}, at));
  const seen = viewOf(factsOf({ target: { ...healthy.target, ...WHOLE }, driver: undefined, drivers: two }));
  const registered = itemsOf(seen.drivers).map(({ isRegistered }) => trueOrNull(isRegistered));
  expect(registered).toEqual([null, null]);
});

const hiddenSocket = { ...UNREAD, path: DEAD.path } as const;
const OFFICIAL = { type: "CSIPlugin", name: "x.csi", endpoint: ENDPOINT, supportedVersions: ["1.0.0"] };
const answered = (more: object) => ({
  ...{ kind: "answered" as const, value: { ...OFFICIAL, report: undefined, ...more } },
});

test.each<[what: string, ask: (view: View) => Truth, of: Partial<RegistrationFacts>]>([
  [
    "a socket that cannot be read is its driver's",
    ({ registrations }) => registrations.contains(({ names }) => names.contains((name) => name === "x.csi")),
    { socket: hiddenSocket, info: undefined },
  ],
  [
    "kubelet called a registrar that does not tell",
    ({ reporting }) => reporting.contains(({ plugin }) => plugin.report.is((one) => one.hasKubeletCalled)),
    { info: answered({}) },
  ],
  [
    "another plugin has an endpoint",
    ({ registrations }) =>
      registrations.contains(({ answer }) =>
        answer.is((said) => said.kind === "plugin" && said.endpoint.is((one) => one !== undefined)),
      ),
    { info: answered({ type: "DRAPlugin" }), endpoint: undefined },
  ],
  [
    "kubelet dials a driver at a path that is not seen",
    (view) => view.drivers.contains((one) => one.isDialled),
    {},
  ],
])("it is not known whether %s", (_what, ask, of) => {
  const registrations = healthyRegistrations().map((one) => ({ ...one, ...of }));
  expect(trueOrNull(ask(viewOf(factsOf({ registrations }))))).toBe(null);
});

test("without the registration directory it is not known whether the node is deserted", () => {
  const directory = { kind: "missing", path: "/registration" } as const;
  const facts = factsOf({ target: { ...healthy.target, ...WHOLE }, driver: undefined, directory });
  const registrations = startReading<NodePart>().list<RegistrationFacts>([], [beyond("directory")]);
  expect(trueOrNull(viewOf({ ...facts, registrations }).isDeserted)).toBe(null);
});

test("what a DRA plugin is called is not the name of the driver that was asked for", () => {
  const dra = answered({ type: "DRAPlugin", name: "gpu.x" });
  const registrations = healthyRegistrations().map((one) => ({ ...one, info: dra, endpoint: undefined }));
  const { targetNames } = viewOf(factsOf({ driver: NAMELESS, registrations }));
  expect(itemsOf(targetNames)).toEqual([]);
});

test("a DRA plugin that has a driver's name does not register that", () => {
  const registrations = healthyRegistrations().map((one) => ({
    ...{ ...one, info: answered({ type: "DRAPlugin" }), endpoint: undefined },
  }));
  const { drivers } = viewOf(factsOf({ registrations }));
  expect(trueOrNull(drivers.contains(({ isRegistered }) => isRegistered))).toBe(false);
});
