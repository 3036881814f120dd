import fs from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { errnoOf, systemError } from "../../../../src/base/errors";
import { decodeReport, encodeReport, REPORT_KEY } from "../../../../src/registrar/registration/self-report";
import { socketText } from "../../../../src/tools/doctor/node/judge/trouble";
import { resolveTarget } from "../../../../src/tools/doctor/node/read/directory";
import { gapsIn } from "../../../../src/tools/doctor/node/read/facts";
import { reachBelow } from "../../../../src/tools/doctor/node/read/files";
import { lookAtSocket } from "../../../../src/tools/doctor/node/read/socket";
import { eachTest } from "../../../support/each-test";
import { leaveDeadSocket } from "../../../support/foreign-socket";
import { createDoctorNode, WHOLE } from "./doctor-node";

// What is there and cannot be read is told, and by its own name.

const node = eachTest(createDoctorNode);

/** Renames a file so that its name is not UTF-8, as it is told. */
function renameToBytes(path: string, tail: string) {
  const bytes = Buffer.concat([
    Buffer.from(`${dirname(path)}/caf`),
    Buffer.from([0xe9, 7]),
    Buffer.from(tail),
  ]);
  fs.renameSync(path, bytes);
  return `${dirname(path)}/caf\\xe9\\x07${tail}`;
}

test.each([
  ["ENOENT", "ENOENT"],
  ["Unknown system error -116", "ESTALE"],
  ["Unknown system error -117", "errno 117"],
  ["ERR_INVALID_ARG_VALUE", undefined],
  [7, undefined],
])("the errno of an error with the code %p is %p", (code, errno) => {
  expect(errnoOf(Object.assign(new Error("x"), { code }))).toBe(errno);
});

test("a driver in a directory whose name is not UTF-8, and such a registration socket, are named", async () => {
  await node.driverUnder("x.csi");
  const directory = renameToBytes(node.at("plugins", "x.csi"), "");
  await leaveDeadSocket(join(node.directory, "x-reg.sock"));
  const socket = renameToBytes(join(node.directory, "x-reg.sock"), "-reg.sock");
  fs.symlinkSync("x", join(node.directory, "x-link"));
  const link = renameToBytes(join(node.directory, "x-link"), "-link");
  fs.writeFileSync(join(node.directory, "README"), "");
  const { says, healthy, drivers } = await node.look(WHOLE);
  const rename = "EILSEQ; fix: rename it: its name is not UTF-8, which no tool takes";
  expect(says("drivers-found")).toBe(
    `unknown: ${directory} cannot be inspected, so drivers there are not seen: ${rename}`,
  );
  for (const path of [socket, link])
    expect(says("registration-directory")).toContain(`unknown: ${path} cannot be read: ${rename}`);
  expect([healthy, drivers]).toEqual([false, []]);
});

test("a plugin with an endpoint that no file has is a finding, and the others are judged", async () => {
  const csiAddress = await node.driverUnder("x.csi");
  await node.plugin("bad-reg.sock", { name: "bad.csi", endpoint: "/a\0b" });
  await node.plugin("x.csi-reg.sock", { name: "x.csi", endpoint: csiAddress });
  const { says } = await node.look(WHOLE);
  expect(says("registration-endpoint").split("\n")).toEqual([
    expect.stringMatching(
      /^problem: bad\.csi is said to be at \/a\0b, which is not an absolute path of a file/,
    ),
    expect.stringMatching(/^ok: x\.csi is at the path/),
  ]);
});

test("a driver below kubelet's own directory in plugins is found; volumes there are not searched", async () => {
  await node.driverUnder("kubernetes.io/csi/x.csi");
  const volume = node.at("plugins/kubernetes.io/csi/x.csi", "0".repeat(64), "globalmount/a/b");
  for (const path of [
    volume,
    node.at("plugins/kubernetes.io/csi/pv/pvc-1/globalmount/c"),
    node.at("plugins/kubernetes.io/rbd/mounts/d/e"),
    node.at("plugins/other/globalmount/f/g"),
  ])
    fs.mkdirSync(path, { recursive: true });
  // Nor what a link leads to once more.
  fs.symlinkSync(".", node.at("plugins/again"));
  const { says, facts } = await node.look(WHOLE);
  expect(says("drivers-found")).toMatch(/^problem: \S+kubernetes\.io\/csi\/x\.csi\/csi\.sock has the driver/);
  expect(facts.gaps).toEqual([]);
  // Beside the volumes.
  const beside = ["pv", "rbd/mounts"].map((path) => `kubernetes.io/${path}`);
  for (const [at, path] of beside.entries()) await node.driverUnder(path, { name: `d${at}.csi` });
  const found = (await node.look(WHOLE)).drivers.map(({ csiSocket }) => csiSocket);
  expect(found).toEqual(expect.arrayContaining(beside.map((path) => node.at("plugins", path, "csi.sock"))));
});

test.each(["ENOTDIR", "EACCES"])("without flags, a %s at /run/csi names no driver", async (errno) => {
  await node.driverUnder("x.csi");
  const real = fs.promises.stat;
  jest
    .spyOn(fs.promises, "stat")
    .mockImplementation((path) =>
      path === "/run/csi/socket" ? Promise.reject(systemError(errno)) : real(path),
    );
  const target = await resolveTarget({}, { KUBELET_ROOT_DIR: node.path });
  expect(target.csiSocketPath).toBeUndefined();
  const { says, drivers } = await node.look({ ...target, pluginRegistrationPath: node.directory });
  const found = expect.stringMatching(/^problem: \S+x\.csi\/csi\.sock has the driver x\.csi/);
  const unseen = expect.stringMatching(/^unknown: \/run\/csi\/socket cannot be inspected, .*: EACCES/);
  const said = errno === "EACCES" ? [unseen, found] : [found];
  expect(says("drivers-found").split("\n").sort().reverse()).toEqual(said);
  expect(drivers).toMatchObject([{ name: "x.csi", state: "unpublished" }]);
});

test.each(["EACCES", "EIO", "ETIMEDOUT"])(
  "whether a directory is read-only, and has free inodes, is unknown by %s",
  async (errno) => {
    for (const call of ["access", "statfs"] as const)
      jest.spyOn(fs.promises, call).mockRejectedValue(systemError(errno));
    const { says, healthy } = await node.look(WHOLE);
    for (const what of ["is read-only", "has free inodes"])
      expect(says("registration-directory")).toContain(
        `unknown: whether ${node.directory} ${what} cannot be read: ${errno}`,
      );
    expect([says("directory-writable"), healthy]).toEqual(["", false]);
  },
);

test.each(["EACCES", "EIO", "ETIMEDOUT"])(
  "of a socket with %s no row says what was not seen",
  async (errno) => {
    const csiAddress = await node.driverUnder("x.csi");
    await node.plugin("x.csi-reg.sock", { name: "x.csi", endpoint: "/on/the/host.sock" });
    const real = fs.promises.stat;
    jest
      .spyOn(fs.promises, "stat")
      .mockImplementation((path) => (path === csiAddress ? Promise.reject(systemError(errno)) : real(path)));
    const target = { csiSocketPath: csiAddress, kubeletRegistrationPath: undefined };
    const { drivers, summary } = await node.look(target);
    expect(drivers).toMatchObject([
      { name: "x.csi", state: "unreported", reason: expect.stringMatching("cannot be seen from here") },
      { name: null, state: "unknown" },
    ]);
    expect(summary.problem).toBe(0);
  },
);

test("a registration directory that is named below --host-root is reached as the host follows its links", async () => {
  const root = node.at("host/data/kubelet");
  for (const path of [join(root, "plugins_registry"), node.at("host/var/lib")])
    fs.mkdirSync(path, { recursive: true });
  fs.symlinkSync("/data/kubelet", node.at("host/var/lib/kubelet"));
  const pluginRegistrationPath = node.at("host/var/lib/kubelet/plugins_registry");
  const target = await resolveTarget({ hostRoot: node.at("host"), pluginRegistrationPath }, {});
  expect(target.pluginRegistrationPath).toBe(join(root, "plugins_registry"));
});

test("a registration directory that is a link leaves drivers, and kubelet, where the link is", async () => {
  const [hostRoot, root] = [node.at("host"), node.at("host/k")];
  for (const path of ["host/data/reg", "host/k/plugins/x.csi"])
    fs.mkdirSync(node.at(path), { recursive: true });
  fs.symlinkSync("/data/reg", join(root, "plugins_registry"));
  await node.driver({ csiAddress: join(root, "plugins/x.csi/csi.sock") });
  for (const pluginRegistrationPath of [undefined, join(root, "plugins_registry")]) {
    const target = await resolveTarget({ hostRoot, pluginRegistrationPath }, { KUBELET_ROOT_DIR: "/k" });
    expect(target).toMatchObject({ pluginRegistrationPath: node.at("host/data/reg"), kubeletRoot: root });
    const { drivers, facts } = await node.look({ ...target, ...WHOLE });
    expect(drivers).toMatchObject([{ name: "x.csi", state: "unpublished" }]);
    expect(facts.directory).toMatchObject({
      kubeletSocket: { path: join(root, "device-plugins/kubelet.sock") },
    });
  }
});

test("a file in the place of a directory has no sockets; a link that leads nowhere from here may have", async () => {
  const directories = [node.at("plugins"), node.directory];
  const gaps = async (make: (path: string) => void) => {
    for (const path of directories) fs.rmSync(path, { recursive: true, force: true });
    for (const path of directories) make(path);
    return (await node.look(WHOLE)).facts.gaps.map(({ subject, why }) => [subject, why.kind]);
  };
  expect(await gaps((path) => fs.writeFileSync(path, ""))).toEqual([]);
  const links = await gaps((path) => fs.symlinkSync("/gone", path));
  expect(links).toEqual(directories.map((path) => [path, "link"]));
});

test.each([
  ["/a/s/", "/a/s/"],
  ["/a/./s", "/a/s"],
  ["/link/s", "/a/s"],
  ["/../link/../a/s", "/a/s"],
  ["/none/../a/s", "/none/../a/s"],
  ["/a/file/../s", "/a/file/../s"],
])("the path %s of a host is %s of its root, as the kernel goes there", async (path, expected) => {
  fs.mkdirSync(node.at("a"));
  fs.writeFileSync(node.at("a/file"), "");
  fs.symlinkSync("/a", node.at("link"));
  expect(await reachBelow(node.path, path)).toBe(node.path + expected);
});

test("a datagram socket is no driver's, and hides none", async () => {
  const path = await node.driverUnder("log.x");
  const socket = await lookAtSocket(path, { tryReach: async () => systemError("EPROTOTYPE") });
  expect(gapsIn(socket)).toEqual([]);
  expect(socket.kind !== "unread" && socketText(socket)).toBe("is a datagram socket, not a stream socket");
  // Which socket it is is known, also where it cannot be connected to.
  const { ino } = fs.statSync(path);
  const busy = await lookAtSocket(path, { tryReach: async () => systemError("EMFILE") });
  expect(busy).toMatchObject({ kind: "unread", inode: expect.stringMatching(`:${ino}$`) });
});

const MAY_TRACE = (1n << 19n).toString(16);
test.each([
  ["rw,hidepid=invisible", "0", "100", "hidden"],
  ["rw,gid=4,hidepid=2", "0", "100 5", "hidden"],
  ["rw,gid=4,hidepid=2", "0", "100 4", "shown"],
  ["rw,gid=4,hidepid=ptraceable", "0", "4", "hidden"],
  ["rw,hidepid=4", MAY_TRACE, "100", "shown"],
  ["rw,hidepid=noaccess", "0", "100", "shown"],
  ["rw", "0", "100", "shown"],
])(
  "with /proc mounted %s, the rights %s and the groups %s, processes are %s",
  async (options, rights, groups, is) => {
    const own = join(node.procfs, "9");
    fs.mkdirSync(own);
    // Of several mounts in one place the last is seen.
    const mounts = [is === "shown" ? "rw,hidepid=2" : "rw", options].map(
      (one) => `2 1 0:1 / ${node.procfs} rw - proc proc ${one}\n`,
    );
    const files = {
      comm: "jest\n",
      mountinfo: `1 0 8:1 / / rw - ext4 /dev/sda rw\n${mounts.join("")}`,
      status: `Name:\tx\nGid:\t100\t100\t100\t100\nGroups:\t${groups} \nCapEff:\t${rights.padStart(16, "0")}\n`,
    };
    for (const [name, text] of Object.entries(files)) fs.writeFileSync(join(own, name), text);
    fs.rmSync(join(node.procfs, "self"));
    fs.symlinkSync("9", join(node.procfs, "self"));
    const said = (await node.look(WHOLE)).says("registrars");
    fs.writeFileSync(join(own, "mountinfo"), "cut");
    expect((await node.look(WHOLE)).says("registrars")).toMatch(
      /^unknown: the processes of this node cannot/,
    );
    if (is === "shown") expect(said).toBe("");
    else expect(said).toMatch(/^unknown: the processes of this node that \/proc hides by hidepid=\w+ cannot/);
  },
);

test("a host's plugins that are an absolute link are the host's own", async () => {
  const root = node.at("host/var/lib/kubelet");
  for (const path of ["host/var/lib/kubelet/plugins_registry", "host/data/x"])
    fs.mkdirSync(node.at(path), { recursive: true });
  fs.symlinkSync("/data", `${root}/plugins`);
  fs.symlinkSync("/gone", node.at("host/data/away"));
  await node.driver({ csiAddress: node.at("host/data/x/csi.sock") });
  const target = { hostRoot: node.at("host"), pluginRegistrationPath: `${root}/plugins_registry` };
  const { says } = await node.look({ ...WHOLE, ...target });
  expect(says("drivers-found")).toMatch(
    /^problem: \S+host\/data\/x\/csi\.sock has the driver x\.csi, for which there is no.*$/,
  );
});

test.each([
  ["to the host's path", "/var/lib/kubelet/data/x-reg.sock", "container"],
  ["out of the mount", "../plugins/x.csi/csi.sock", "container"],
  ["that stays in the mount", "../reg/other", "node"],
  ["where the host's root is seen", "", "node"],
])("a registration socket that is a link %s is judged only as the host follows it: %s", async (...one) => {
  const [what, to, sees] = one;
  const link = join(node.directory, "x.csi-reg.sock");
  const csiAddress = await node.driverUnder("x.csi");
  fs.symlinkSync(to || csiAddress, link);
  const own = join(node.procfs, "self");
  fs.rmSync(own);
  fs.mkdirSync(own);
  const mount = `2 1 8:1 /var/lib/kubelet/plugins_registry ${node.directory} rw - ext4 /dev/sda rw\n`;
  const isNode = what.includes("root is seen");
  fs.writeFileSync(join(own, "mountinfo"), `1 0 8:1 / / rw - ext4 /dev/sda rw\n${isNode ? "" : mount}`);
  const { says, drivers, summary } = await node.look(WHOLE);
  const isFollowed = sees === "node";
  expect(drivers).toContainEqual(
    expect.objectContaining({ name: "x.csi", state: isFollowed ? "unpublished" : "unknown" }),
  );
  expect(says("registration-directory")).toMatch(
    isFollowed
      ? /^(?!unknown)/
      : /^unknown: .* which cannot be followed from here as on the host; fix: look at/,
  );
  if (isFollowed)
    expect(says("registration")).toMatch(/^problem: .* where no registrar answers; fix: remove it$/m);
  else expect(summary.problem).toBe(0);
});

const REPORT = { state: "refused", changedAtMs: 1, hasKubeletCalled: true, standbys: 2, kubeletError: "no" };
const headerOf = (report: unknown) => Buffer.from(JSON.stringify(report)).toString("base64url");

test("a report of which a field has another type never counts as none, nor as one without that field", () => {
  expect(decodeReport(undefined)).toBeUndefined();
  expect(decodeReport(encodeReport(REPORT))).toEqual(REPORT);
  const field = fc.constantFrom(...(Object.keys(REPORT) as (keyof typeof REPORT)[]));
  fc.assert(
    fc.property(field, fc.jsonValue(), (name, value) => {
      fc.pre(typeof value !== typeof REPORT[name]);
      expect(() => decodeReport(headerOf({ ...REPORT, [name]: value }))).toThrow(name);
    }),
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => expect(() => decodeReport(headerOf(value))).toThrow("report")),
  );
});

test.each(["!!!", headerOf({ ...REPORT, kubeletError: { message: "no" } })])(
  "a registrar whose report is %s is unknown, and not one that tells nothing",
  async (header) => {
    const endpoint = await node.driverUnder("x.csi");
    await node.plugin("x.csi-reg.sock", { name: "x.csi", endpoint }, { [REPORT_KEY]: header });
    const { says, healthy, drivers } = await node.look(WHOLE);
    expect(says("registration")).toMatch(
      /^unknown: \S+x\.csi-reg\.sock .*report has no \w+ that can be read/,
    );
    expect([healthy, drivers[0]?.state]).toEqual([false, "unknown"]);
  },
);

test.each(["refused", "publishing", "listening", "asked"])(
  "kubelet's refusal counts until it has said something else: %s",
  async (state) => {
    const endpoint = await node.driverUnder("x.csi");
    const header = headerOf({ ...REPORT, state });
    await node.plugin("x.csi-reg.sock", { name: "x.csi", endpoint }, { [REPORT_KEY]: header });
    expect((await node.look(WHOLE)).says("registration")).toMatch(
      /^problem: x\.csi was refused by kubelet: no;/,
    );
  },
);
