import type { Status } from "../../../../src/tools/doctor/findings/finding";
import { itemsOf } from "../../../../src/tools/doctor/findings/opened";
import { listFrom, truth } from "../../../../src/tools/doctor/findings/seen";
import { viewOf } from "../../../../src/tools/doctor/node/judge/view";
import type { DirectoryFacts } from "../../../../src/tools/doctor/node/read/directory";
import type { NodeGap } from "../../../../src/tools/doctor/node/read/facts";
import type { SocketFacts } from "../../../../src/tools/doctor/node/read/socket";
import { reportOn } from "../../../../src/tools/doctor/node/report";
import { WHOLE } from "./doctor-node";
import {
  type Changes,
  healthyFacts,
  healthyRegistrations,
  placeAt,
  reporting,
  sayings,
} from "./healthy-facts";

type Case = readonly [check: string, status: Status, text: RegExp, changes: Changes];

const CSI = "/var/lib/kubelet/plugins/x.csi/csi.sock";
const REGISTRY = "/var/lib/kubelet/plugins_registry";
const healthy = healthyFacts();

const FILE: DirectoryFacts = { kind: "not-a-directory", path: "/r", fileType: "a file" };
const unread = (errno: string, uid: number): Changes => ({
  gaps: [{ part: "directory", subject: "/registration", why: { kind: "errno", errno } }],
  host: { uid },
});
const WRONG = { kind: "wrong", problem: "on the host it is /h", fix: "write it" } as const;

const UNREAD = {
  kind: "unread",
  gap: { part: "directory", subject: "/proc/self/mountinfo", why: { kind: "errno", errno: "EIO" } },
} as const;
const place = (...where: Parameters<typeof placeAt>) => ({ folder: { place: placeAt(...where) } });
const socket = (path: string, found: Partial<SocketFacts>) =>
  ({ path, ownership: { mode: 0, uid: 0, gid: 0 }, inode: "", ...found }) as SocketFacts;
const kubeletSocket = (found: Partial<SocketFacts>): Changes => ({
  folder: { kubeletSocket: socket("/k.sock", found) },
});
const kubeletPath = (path: string | undefined, found: object = { kind: "unseen" }): Changes => ({
  target: { ...healthy.target, kubeletRegistrationPath: path },
  kubeletPath: socket(path ?? "", found),
});
const accepting = (inode: string) => ({ kind: "accepting", inode });
const unwritable = (errno: string, uid = 0) => ({ folder: { unwritable: errno }, host: { uid } });
const inodes = (found: { files: number; ffree: number } | string) => ({ folder: { inodes: found } });
const called = (state: string, hasKubeletCalled = true): Changes => ({
  ...reporting(state, { hasKubeletCalled }),
  ...place("/srv/plugins_registry"),
});
/** In a container: the host's path is another root, and kubelet has not called. */
const uncalled = (state: string): Changes => ({
  ...reporting(state),
  ...place("/srv/kubelet/plugins_registry"),
});
/** The registration directory, mounted by itself or with what is beside it. */
const mounted = (isMountPoint: boolean): Changes => ({
  folder: { path: REGISTRY, place: placeAt(REGISTRY, "ext4", isMountPoint) },
});
const answering = healthyRegistrations().map((one) => ({ ...one, endpoint: healthy.driver }));
const FITTING = {
  hostPath: { kind: "fits" },
  target: { ...healthy.target, kubeletRegistrationPath: CSI },
} as const;
const MISPLACED = { hostPath: WRONG, registrations: answering };
const MISSING = { kind: "missing", path: REGISTRY } as const;
const NOWHERE = {
  target: { ...healthy.target, ...WHOLE, isGuess: true },
  driver: undefined,
  registrations: [],
};
const unconnected = (kind: SocketFacts["kind"], errno: string): Changes => {
  const gap = { part: "sockets", subject: CSI, why: { kind: "errno", errno } };
  return {
    driver: { socket: socket(CSI, { kind, errno, gap, explanation: errno } as object), identity: undefined },
  };
};
const OTHER_ROOT = (isThere: boolean | NodeGap) => ({
  host: { otherDirectories: listFrom([{ path: "/k0s", isThere: truth(isThere) }]) },
});
const KUBELET = {
  ...{ pid: 7, directory: REGISTRY, is: () => false },
  ...{ isHere: true, isDeaf: truth(false) },
};
const answered = (
  answer: object,
  { registrations } = { registrations: healthyRegistrations() },
): Changes => ({
  registrations: registrations.map((one) => ({
    ...one,
    info: one.info?.kind === "answered" ? { ...one.info, value: { ...one.info.value, ...answer } } : one.info,
  })),
});
const versions = (...supportedVersions: string[]) => answered({ supportedVersions });
const limited = (maxVolumesPerNode: number): Changes => {
  const value = { nodeId: "n1", maxVolumesPerNode, accessibleTopology: null };
  return { driver: healthy.driver && { ...healthy.driver, nodeInfo: { kind: "answered", value } } };
};

test.each<Case>([
  ["registration-directory", "ok", /is a directory \(mode 0750, owner 0:0\)/, {}],
  [
    "registration-directory",
    "unknown",
    /cannot be read: EACCES; fix: .* to root: the r/,
    unread("EACCES", 0),
  ],
  ["registration-directory", "unknown", /EPERM; fix: run registrar doctor as root$/, unread("EPERM", 1000)],
  ["registration-directory", "unknown", /EIO; fix: .*: dmesg$/, unread("EIO", 1000)],
  ["registration-directory", "problem", /registry is not there; fix: mount/, { directory: MISSING }],
  ["registration-directory", "problem", /^\/r is a file, not a directory/, { directory: FILE }],
  [
    "registration-directory",
    "unknown",
    /is not there, nor .*; fix: .* registrar doctor --cluster looks at every/,
    { directory: MISSING, ...NOWHERE },
  ],
  // Who names a driver's socket is on its node.
  [
    "registration-directory",
    "problem",
    /is not there; fix: mount/,
    { directory: MISSING, target: { ...healthy.target, isGuess: true } },
  ],

  ["directory-writable", "problem", /mounted read-only/, unwritable("EROFS")],
  ["directory-writable", "warning", /without a free inode: .*: df -i$/, inodes({ files: 9, ffree: 0 })],

  ["directory-kubelets", "ok", /at a usual path .* \(\/var\/lib\/kubelet\/plugins_registry on its/, {}],
  ["directory-kubelets", "ok", /is at a usual path/, place("/lib/kubelet/plugins_registry")],
  ["directory-kubelets", "ok", /is at a usual path/, place("/plugins_registry")],
  ["directory-kubelets", "ok", /is at a usual path/, place("/snap/var/lib/kubelet/plugins_registry")],
  ["directory-kubelets", "skipped", /of a known kubelet \(\/srv\S+ on its/, place("/srv/plugins_registry")],
  [
    "directory-kubelets",
    "skipped",
    /^\/registration is not .* of a known kubelet; fix/,
    place("/registration"),
  ],
  ["directory-kubelets", "ok", /is kubelet's: it has called on .*reg\.sock$/, called("registered")],
  ["directory-kubelets", "ok", /is kubelet's: it has called on/, called("listening")],
  ["directory-kubelets", "skipped", /of a known kubelet/, called("listening", false)],
  ["directory-kubelets", "skipped", /of a known kubelet/, uncalled("listening")],
  ["directory-kubelets", "ok", /is at a usual path/, uncalled("waiting")],
  ["directory-kubelets", "skipped", /this node has \/k0s too/, OTHER_ROOT(true)],
  [
    "directory-kubelets",
    "unknown",
    /; whether this node has another one cannot be read: \/k0s: EACCES/,
    OTHER_ROOT({ part: "directory", subject: "/k0s", why: { kind: "errno", errno: "EACCES" } }),
  ],
  ["directory-kubelets", "problem", /belongs to the container/, place("/registration", "overlay", false)],
  ["directory-kubelets", "problem", /emptyDir/, place("/pods/1/volumes/kubernetes.io~empty-dir/reg")],
  ["directory-kubelets", "unknown", /mounts cannot be read/, { folder: { place: UNREAD } }],

  ["kubelet", "problem", /not seem to run/, kubeletSocket({ kind: "dead" })],

  ["kubelet-path", "unknown", /cannot be seen from here/, {}],
  // What the container has at this path may not be what the host has there.
  ["kubelet-path", "unknown", /cannot be seen from here/, kubeletPath("/csi/csi.sock", accepting("1:2"))],
  ["kubelet-path", "problem", /not an absolute path/, kubeletPath("csi.sock")],
  ["kubelet-path", "problem", /not an absolute path/, kubeletPath(`unix://${CSI}`)],
  ["kubelet-path", "warning", /registration directory/, kubeletPath("/k/plugins_registry/x.sock")],
  ["kubelet-path", "problem", /is not there/, kubeletPath(CSI, { kind: "missing" })],
  ["kubelet-path", "ok", /and accepts connections/, kubeletPath(CSI, accepting("1:2"))],
  ["kubelet-path", "ok", /fits the mounts of this container/, { hostPath: { kind: "fits" } }],
  ["kubelet-path", "problem", /different socket/, kubeletPath(CSI, accepting("7:7"))],
  // By the mounts, though a driver answers there.
  ["kubelet-path", "problem", / on the host it is \/h; fix: write it$/, MISPLACED],

  ["registration-endpoint", "problem", / on the host it is \/h; fix: write it$/, MISPLACED],
  // A registrar in a container that has the directory mounted by itself does not see what is beside it.
  ["registration-endpoint", "unknown", new RegExp(CSI), mounted(true)],
  ["registration-endpoint", "ok", /by the mounts of this container/, { ...mounted(true), ...FITTING }],
  ["registration-endpoint", "problem", new RegExp(`${CSI}.*; fix: correct the regis`), mounted(false)],

  [
    "registration",
    "problem",
    /, but kubelet does not call; fix: \/registration \(\/srv\S+ on its file system\) must be/,
    uncalled("listening"),
  ],

  [
    "registration",
    "problem",
    /; or kubelet gets no events: fs\.inotify\.max.*, or that file/,
    uncalled("listening"),
  ],
  [
    "registration",
    "problem",
    /; or kubelet gets no events: /,
    { ...uncalled("listening"), kubelets: [{ ...KUBELET, isHere: false }] },
  ],
  [
    "registration",
    "problem",
    /and kubelet must be running$/,
    { ...uncalled("listening"), kubelets: [KUBELET] },
  ],
  [
    "kubelet",
    "problem",
    /\(process 7\) does not watch \/registration/,
    { kubelets: [{ ...KUBELET, isDeaf: truth(true) }] },
  ],
  [
    "registration",
    "problem",
    /will be refused: .* is 0\.9, must be v1\.x; fix: .*such a version, 1\.0\.0$/,
    versions("0.9"),
  ],
  ["registration", "problem", /will be refused: .*an empty list for supported versions; fix/, versions()],
  ["registration", "skipped", /does not report/, versions("2.0.0", "1.2")],
  // Kubelet has it.
  [
    "registration",
    "ok",
    /^x\.csi is registered/,
    answered({ supportedVersions: ["0.9"] }, reporting("registered")),
  ],

  ["driver-socket", "problem", /ECONNREFUSED/, unconnected("dead", "ECONNREFUSED")],
  ["driver-socket", "problem", /EAGAIN/, unconnected("stuck", "EAGAIN")],
  ["driver-socket", "unknown", /EACCES/, unconnected("unread", "EACCES")],
  ["driver-socket", "unknown", /EMFILE/, unconnected("unread", "EMFILE")],

  // nodeinfomanager.go: kubelet logs an invalid attach limit, and writes the driver to CSINode without one.
  [
    "driver-node-info",
    "warning",
    /^the CSI driver answers NodeGetInfo with max_volumes_per_node -1: CSI forbids it, and kubelet writes no limit; fix: have the driver answer 0 for no limit: see its settings$/,
    limited(-1),
  ],
  // Nobody has asked for its endpoint.
  [
    "other-registrations",
    "warning",
    /^gpu\.x was refused by kubelet: .*dial unix/,
    answered(
      { type: "DRAPlugin", name: "gpu.x" },
      reporting("refused", { kubeletError: "dial unix /x: connect: no such file" }),
    ),
  ],
  ["driver-node-info", "ok", /^n1 is .*; any number of volumes$/, limited(0)],
  ["driver-node-info", "ok", /^n1 is .*; at most 1 volumes$/, limited(1)],
])("%s is %s: %s", (check, status, text, changes) => {
  const said = sayings(check, changes);
  expect(said).toHaveLength(1);
  expect(said[0]?.slice(0, status.length + 2)).toBe(`${status}: `);
  expect(said[0]?.slice(status.length + 2)).toMatch(text);
});

test("a file system that has no limit of inodes, or does not tell, is not full", () => {
  for (const found of [{ files: 0, ffree: 0 }, { files: 9, ffree: 1 }, "EIO"])
    expect(sayings("directory-writable", inodes(found))).toEqual([]);
});

test("a directory whose mounts, or whose like, cannot be read makes the report partial", () => {
  const hidden = { part: "directory", subject: "/k0s", why: { kind: "errno", errno: "EACCES" } } as const;
  for (const changes of [{ folder: { place: UNREAD } }, OTHER_ROOT(hidden)])
    expect(reportOn(healthyFacts(changes)).healthy).toBe(false);
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
