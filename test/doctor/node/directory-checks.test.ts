import type { Status } from "../../../src/doctor/findings/finding";
import { NODE_CHECKS } from "../../../src/doctor/node/checks";
import type { SocketFacts } from "../../../src/doctor/node/facts";
import { reportOn } from "../../../src/doctor/node/report";
import type { HostPathVerdict } from "../../../src/host-path/host-path";
import { ELSEWHERE, findingsOf, healthyFacts } from "./healthy-facts";

type Changes = Parameters<typeof healthyFacts>[0];
type Case = readonly [check: string, status: Status, text: RegExp, changes: Changes];

const place = (path: string, fileSystem = "ext4", isMountPoint = true): Changes => ({
  folder: { place: { path, fileSystem, isMountPoint, ...ELSEWHERE } },
});
const selinux = (label: string, mode?: "enforcing" | "permissive"): Changes => ({
  host: { selinux: { kind: "on", mode, label } },
});
const kubeletSocket = (socket: Partial<SocketFacts>): Changes => ({
  folder: {
    kubeletSocket: {
      path: "/k.sock",
      ownership: { mode: 0, uid: 0, gid: 0 },
      inode: "",
      ...socket,
    } as SocketFacts,
  },
});
const kubeletPath = (path: string, found?: Partial<SocketFacts>): Changes => {
  const { target } = healthyFacts();
  const socket = { kind: "missing", path, folderInSight: false, ...found } as SocketFacts;
  return { facts: { target: { ...target, kubeletRegistrationPath: path }, kubeletPath: socket } };
};
const accepting = (inode: string) =>
  ({ kind: "accepting", inode, ownership: { mode: 0, uid: 0, gid: 0 } }) as const;
const CSI = "/var/lib/kubelet/plugins/x.csi/csi.sock";

test.each<Case>([
  ["registration-directory", "ok", /is a folder \(mode 0750, owner 0:0\)/, {}],
  [
    "registration-directory",
    "unknown",
    /may not be read by this user: EACCES/,
    { folder: { unlistable: "EACCES" } },
  ],
  ["directory-writable", "ok", /\(user ID 0\)/, {}],
  [
    "directory-writable",
    "problem",
    /EACCES \(user ID 65534; mode 0750/,
    { folder: { unwritable: "EACCES" }, host: { uid: 65534 } },
  ],
  ["directory-writable", "problem", /ENOSPC: .* no inode left/, { folder: { unwritable: "ENOSPC" } }],
  [
    "directory-writable",
    "unknown",
    /may not be written to by this user/,
    {
      folder: {
        unwritable: "EACCES",
        place: { path: "/k/plugins_registry", fileSystem: "ext4", isMountPoint: false, ...ELSEWHERE },
      },
      host: { uid: 1000 },
    },
  ],
  ["directory-writable", "problem", /mounted read-only/, { folder: { unwritable: "EROFS" } }],

  ["directory-kubelets", "ok", /has a path of kubelet's: \/var\/lib\/kubelet\/plugins_registry/, {}],
  ["directory-kubelets", "ok", /has a path/, place("/lib/kubelet/plugins_registry")],
  ["directory-kubelets", "ok", /has a path/, place("/plugins_registry")],
  [
    "directory-kubelets",
    "ok",
    /has a path/,
    place("/var/snap/microk8s/common/var/lib/kubelet/plugins_registry"),
  ],
  ["directory-kubelets", "unknown", /no known kubelet/, place("/srv/plugins_registry")],
  ["directory-kubelets", "unknown", /this node has \/k0s too/, { host: { otherDirectories: ["/k0s"] } }],
  ["directory-kubelets", "problem", /belongs to the container/, place("/registration", "overlay", false)],
  [
    "directory-kubelets",
    "problem",
    /emptyDir/,
    place("/var/lib/kubelet/pods/1/volumes/kubernetes.io~empty-dir/reg"),
  ],
  ["directory-kubelets", "unknown", /does not show what is mounted/, { folder: { place: undefined } }],

  ["socket-path", "ok", /x\.csi-reg\.sock is short enough/, {}],
  ["socket-path", "problem", /has 1\d\d bytes/, kubeletPath(`/${"d".repeat(100)}/plugins/x.csi/csi.sock`)],
  ["socket-path", "ok", /short enough/, place(`/${"d".repeat(100)}/var/lib/kubelet/plugins_registry`)],

  ["kubelet", "unknown", /cannot be seen from here/, {}],
  ["kubelet", "ok", /runs/, kubeletSocket({ kind: "accepting" })],
  [
    "kubelet",
    "problem",
    /does not seem to run/,
    kubeletSocket({ kind: "not-accepting", errno: "ECONNREFUSED" }),
  ],
  ["kubelet", "unknown", /cannot be seen/, kubeletSocket({ kind: "not-accepting", errno: "EACCES" })],

  ["inotify", "ok", /has room/, {}],
  ["inotify", "problem", /max_user_instances is used up/, { folder: { unwatchable: "EMFILE" } }],
  ["inotify", "problem", /max_user_watches is used up/, { folder: { unwatchable: "ENOSPC" } }],
  ["inotify", "unknown", /EIO/, { folder: { unwatchable: "EIO" } }],
  ["inotify", "unknown", /only root can try/, { host: { uid: 1000 } }],

  ["selinux", "ok", /is off/, {}],
  ["selinux", "unknown", /cannot be seen/, { host: { selinux: { kind: "unknown" } } }],
  ["selinux", "ok", /permissive/, selinux("system_u:system_r:container_t:s0", "permissive")],
  [
    "selinux",
    "warning",
    /is enforcing and confines us/,
    selinux("system_u:system_r:container_t:s0:c1,c2", "enforcing"),
  ],
  ["selinux", "warning", /is on and confines us/, selinux("system_u:system_r:container_init_t:s0")],
  [
    "selinux",
    "ok",
    /we run as system_u:system_r:spc_t:s0/,
    selinux("system_u:system_r:spc_t:s0", "enforcing"),
  ],

  ["kubelet-path", "unknown", /cannot be seen from here/, {}],
  [
    "kubelet-path",
    "unknown",
    /was not named/,
    { facts: { target: { ...healthyFacts().target, kubeletRegistrationPath: undefined } } },
  ],
  ["kubelet-path", "problem", /no absolute path/, kubeletPath("csi.sock")],
  ["kubelet-path", "problem", /no absolute path/, kubeletPath(`unix://${CSI}`)],
  [
    "kubelet-path",
    "warning",
    /registration directory/,
    kubeletPath("/var/lib/kubelet/plugins_registry/x.sock"),
  ],
  [
    "kubelet-path",
    "problem",
    /is not there/,
    kubeletPath(CSI, { folderInSight: true } as Partial<SocketFacts>),
  ],
  ["kubelet-path", "ok", /under the path that kubelet gets/, kubeletPath(CSI, accepting("1:2"))],
  [
    "kubelet-path",
    "ok",
    /it ends as on the driver's disk: \/plugins\/x\.csi\/csi\.sock; where the host mounts that disk cannot be seen/,
    { facts: { hostPath: { kind: "ends-alike", path: "/plugins/x.csi/csi.sock" } } },
  ],
  [
    "kubelet-path",
    "problem",
    /on its disk the driver's socket is \/k\/csi\.sock; where/,
    { facts: { hostPath: { kind: "differs-on-disk", path: "/k/csi.sock", inKubeletRoot: undefined } } },
  ],
  ["kubelet-path", "problem", /another socket/, kubeletPath(CSI, accepting("7:7"))],
])("%s is %s: %s", (check, status, text, changes) => {
  const findings = findingsOf(check, healthyFacts(changes));
  expect(findings).toEqual([expect.objectContaining({ check, status })]);
  const [finding] = findings;
  expect(`${finding?.subject} ${finding?.text}`).toMatch(text);
});

/** A driver answers at the path that kubelet is told. */
const reachable = (hostPath: HostPathVerdict) => {
  const { registrations, driver } = healthyFacts();
  return healthyFacts({
    facts: { hostPath, registrations: registrations.map((one) => ({ ...one, endpoint: driver })) },
  });
};

test("what to mount is no flag to write", () => {
  const fixes = (hostPath: HostPathVerdict) =>
    ["kubelet-path", "registration-endpoint"].flatMap((check) =>
      findingsOf(check, reachable(hostPath)).map(({ fix }) => fix),
    );
  const mount =
    "mount the hostPath /var/lib/kubelet/plugins/NAME there, in this container and in the driver's";
  expect(fixes({ kind: "not-mounted", folder: "/csi" })).toEqual([mount, mount]);
  expect(fixes({ kind: "empty-dir" })).toEqual(
    Array(2).fill(expect.stringMatching(/^make that volume a hostPath/)),
  );
  expect(fixes({ kind: "differs", hostPath: "/h" })).toEqual(
    Array(2).fill("write --kubelet-registration-path=/h"),
  );
});

test("each problem and each warning comes with a fix of one line, each name is there once", () => {
  const names = NODE_CHECKS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const { findings } = reportOn(
    healthyFacts({
      folder: { unwritable: "EROFS", unwatchable: "EMFILE" },
      host: { uid: 0 },
      facts: { registrations: [] },
    }),
  );
  const bad = findings.filter(({ status }) => status === "problem" || status === "warning");
  expect(bad.map(({ check }) => check)).toEqual(["directory-writable", "inotify", "registration"]);
  for (const { fix } of bad) expect(fix).toMatch(/^[^\n]+$/);
});

test("a registrar in a container that has the directory mounted by itself does not see what is beside it", () => {
  const endpoint = "/var/lib/kubelet/plugins/x.csi/csi.sock";
  const path = "/var/lib/kubelet/plugins_registry";
  const seen = (isMountPoint: boolean) => {
    const facts = healthyFacts({
      folder: { path, place: { path, fileSystem: "ext4", isMountPoint, ...ELSEWHERE } },
    });
    return findingsOf("registration-endpoint", facts).map(({ status, text }) => [
      status,
      text.includes(endpoint),
    ]);
  };
  expect(seen(true)).toEqual([["unknown", true]]);
  expect(seen(false)).toEqual([["problem", true]]);
});
