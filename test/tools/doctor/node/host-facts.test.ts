import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { itemsOf, trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import { startReading } from "../../../../src/tools/doctor/findings/seen";
import {
  lookAtDirectory,
  otherDirectories,
  resolveTarget,
} from "../../../../src/tools/doctor/node/read/directory";
import { gatherFacts } from "../../../../src/tools/doctor/node/read/gather";
import { parseMountinfo } from "../../../../src/unix/mounts";
import { eachTest } from "../../../support/each-test";
import { leaveDeadSocket, startForeignSocket } from "../../../support/foreign-socket";
import { createTempFolder } from "../../../support/temp-folder";
import { createDoctorNode, WHOLE } from "./doctor-node";

const look = async (path: string, mountinfo = "") => {
  const directory = await lookAtDirectory(path, parseMountinfo(mountinfo), startReading());
  return directory.kind === "unread" ? directory.gap : directory;
};

const folder = eachTest(createTempFolder);

test("a symbolic link's target is the directory's place", async () => {
  const mountinfo = `1 0 8:1 / ${folder.path} rw - ext4 /dev/sda rw`;
  mkdirSync(folder.at("kubelet"));
  symlinkSync("kubelet", folder.at("link"));
  const facts = await look(folder.at("link"), mountinfo);
  expect(facts).toMatchObject({ kind: "directory", place: { path: "/kubelet" } });
  const unseen = await look(folder.at("link"));
  expect(unseen).toMatchObject({ kind: "directory", place: { gap: { why: { errno: "EIO" } } } });
});

test("a directory that is missing, and a file in its place; other directories are those that exist", async () => {
  writeFileSync(folder.at("file"), "");
  expect(await look(folder.at("none"))).toMatchObject({ kind: "missing" });
  expect(await look(folder.at("file"))).toMatchObject({ fileType: "a file" });
  symlinkSync("loop", folder.at("loop"));
  const directories = [folder.path, folder.at("none"), "/x", folder.at("loop")];
  const there = async (path: string) =>
    (await otherDirectories(path, directories)).map(({ isThere }) => trueOrNull(isThere));
  expect(await there("/x")).toEqual([true, false, null]);
  mkdirSync(folder.at("own"));
  expect(await there(folder.at("own"))).toEqual([true, false, false, null]);
  // As MicroK8s has a link to its own at the default root.
  symlinkSync(".", folder.at("link"));
  expect(await there(folder.at("link"))).toEqual([false, false, false, null]);
});

test("the registration directories of other kubelets are looked for below the host's root", async () => {
  for (const path of ["own", "other"]) mkdirSync(folder.at(path));
  const target = { csiSocketPath: undefined, kubeletRegistrationPath: undefined, hostRoot: folder.path };
  const options = { timeoutMs: 1, uid: 0, knownDirectories: ["/own", "/other"], procfs: folder.at("none") };
  const { host } = await gatherFacts({ ...target, pluginRegistrationPath: folder.at("own") }, options);
  const there = itemsOf(host.otherDirectories).map(({ path, isThere }) => [path, trueOrNull(isThere)]);
  expect(there).toEqual([[folder.at("other"), true]]);
});

test("kubelet's device plugin socket is looked for beside the directory", async () => {
  for (const name of ["plugins_registry", "device-plugins"]) mkdirSync(folder.at(name));
  await using _kubelet = await startForeignSocket(folder.at("device-plugins", "kubelet.sock"));
  const facts = await look(folder.at("plugins_registry"));
  expect(facts).toMatchObject({ kubeletSocket: { kind: "accepting" } });
});

test("an unreadable root of the host, or of kubelet, is unknown", async () => {
  for (const path of ["var/lib", "var/lib/k0s/kubelet/plugins_registry"])
    mkdirSync(folder.at(path), { recursive: true });
  symlinkSync("kubelet", folder.at("var/lib/kubelet"));
  const look = (hostRoot: string) => resolveTarget({ hostRoot }, {});
  await expect(look(folder.path)).rejects.toThrow(
    `${folder.at("var/lib/kubelet/plugins_registry")} cannot be read: ELOOP: cannot inspect the host`,
  );
  await expect(look(folder.at("var/lib/kubelet"))).rejects.toThrow("var/lib/kubelet cannot be read: ELOOP");
  writeFileSync(folder.at("file"), "");
  await expect(look(folder.at("file"))).rejects.toThrow("is not a directory");
});

test.each<readonly [what: string, mounted: readonly string[], status: string]>([
  ["the node's own", [], "problem"],
  ["no other", ["reg"], "warning"],
  ["the driver's own, at its path", ["reg", "plugins/x.csi"], "warning"],
  ["kubelet's plugins, and not csi-plugins", ["reg", "plugins"], "warning"],
  ["all that have drivers", ["reg", "plugins", "csi-plugins"], "problem"],
])("a directory of kubelet's root that is not mounted may have another driver: %s", async (...one) => {
  const [, mounted, status] = one;
  await using node = await createDoctorNode();
  for (const name of mounted) mkdirSync(node.at(name), { recursive: true });
  rmSync(`${node.procfs}/self`);
  mkdirSync(`${node.procfs}/self`);
  const mounts = mounted.map((name) => `2 1 8:1 /kubelet/${name} ${node.at(name)} rw - ext4 /dev/sda rw\n`);
  writeFileSync(`${node.procfs}/self/mountinfo`, ["1 0 8:2 / / rw - ext4 /dev/sdb rw\n", ...mounts].join(""));
  await leaveDeadSocket(`${node.directory}/x.csi-reg.sock`);
  mkdirSync(node.at("vendor"));
  await leaveDeadSocket(node.at("vendor", "csi.sock"));
  const { findings } = await node.look({ ...WHOLE, pattern: node.at("vendor/*.sock") });
  const wrong = findings.filter(({ status }) => /problem|warning/.test(status));
  expect(wrong.map(({ code, status }) => `${code} ${status}`)).toEqual([
    `CSI019 ${status}`,
    `CSI020 ${status}`,
  ]);
  for (const { text } of wrong)
    expect(text.endsWith("; this node has no other driver")).toBe(status === "problem");
});
