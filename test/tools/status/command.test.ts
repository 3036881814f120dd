import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import timers from "node:timers/promises";
import { runStatus } from "../../../src/tools/status/command";
import { run } from "../../support/child-process";
import { eachTest } from "../../support/each-test";
import { eventually } from "../../support/eventually";
import { startForeignSocket } from "../../support/foreign-socket";
import { mayMount, mountHanging } from "../../support/hanging-mount";
import { runCommand } from "../../support/run-command";
import { createTempFolder } from "../../support/temp-folder";
import { createDoctorNode } from "../doctor/node/doctor-node";
import { startCommand } from "../support/command";

const node = eachTest(createDoctorNode);
const flag = () => `--plugin-registration-path=${node.directory}`;
const registrarOf = (csiAddress: string) => node.registrar({ csiAddress, endpoint: csiAddress });
const status = async (...words: readonly string[]) => {
  const ended = await runCommand("status", flag(), "-o", "json", ...words);
  return { status: ended.status, rows: JSON.parse(ended.stdout) };
};

test("a driver without a registrar, and one that is registered", async () => {
  const none = await runCommand("status", flag(), "-o", "text");
  expect([none.status, none.stdout]).toEqual([1, ""]);
  expect(none.stderr).toMatch(/^registrar status: no driver in \S+\/reg or \S+\/plugins\n$/);
  expect(await runCommand("status", flag(), "-o", "json")).toMatchObject({ stdout: "[]\n", stderr: "" });

  const csiAddress = await node.driverUnder("x.csi");
  expect(await status()).toMatchObject({ status: 1, rows: [{ state: "unpublished" }] });
  using waiting = startCommand(["status", flag(), "--wait=60s"]);
  const kubelet = await node.kubelet();
  await registrarOf(csiAddress);
  await kubelet.registered("x.csi");
  expect(await waiting.exitCode()).toBe(0);
  using once = startCommand(["status", flag(), "--timeout=30s"]);
  expect(await once.exitCode()).toBe(0);
  expect(once.lines[0]).toMatch(/^DRIVER +STATE +SINCE +WHY, WHERE$/);
  expect(once.lines[1]).toMatch(/^x\.csi +registered +\d{4}-\S+Z +\/.*csi\.sock$/);
});

test.each(["status", "doctor"])("%s escapes a socket's name with a line feed", async (name) => {
  await registrarOf(await node.driverUnder("x.csi"));
  await using _ = await startForeignSocket(`${node.directory}/a\nb\u001b[31m-reg.sock`);
  const { stdout, stderr } = await runCommand(name, flag());
  const printed = stdout + stderr;
  expect(printed).toContain("a\\nb\\x1b[31m");
  expect(printed).toMatch(/^x\.csi +\w+/m);
  expect(printed.replaceAll("\n", "")).toMatch(/^[ -~]*$/);
});

// Where /dev/fuse is missing, or this user may not mount, no file system can be made to hang.
(mayMount() ? test : test.skip)("mounts that never answer are left out, and told", async () => {
  const registrar = await registrarOf(await node.driverUnder("x.csi"));
  await registrar.state("listening");
  const paths = [node.at("plugins", "evil"), `${node.directory}/evil`];
  for (const path of paths) mkdirSync(path);
  using _below = mountHanging(paths[0] ?? "");
  using _beside = mountHanging(paths[1] ?? "");

  using status = startCommand(["status", flag()]);
  expect(await status.exitCode()).toBe(1);
  expect(status.lines.join("\n")).toMatch(/^x\.csi +listening /m);
  for (const path of paths)
    expect(status.stderr).toContain(`${path} is a mount of fuse and was not inspected`);

  using doctor = startCommand(["doctor", flag(), "-o", "json"]);
  expect(await doctor.exitCode()).toBe(3);
  const { findings } = JSON.parse(doctor.lines.join("\n"));
  for (const path of paths)
    expect(findings).toContainEqual(
      expect.objectContaining({
        status: "unknown",
        subject: path,
        text: expect.stringMatching("is a mount of"),
      }),
    );

  // A look at a path that leads into such a mount is bounded.
  using into = startCommand(["doctor", flag(), `--csi-address=${paths[0]}/csi.sock`, "-o", "json"]);
  await into.line(/"text": "cannot be inspected: ETIMEDOUT, its file system does not answer"/);
  // Before Node 22.15 it can only kill itself.
  expect(await into.exitCode()).toBe("execve" in process ? 3 : null);
});

/** The exit codes of both, and whether the JSON of status says that it may lack drivers. */
async function bothExit() {
  const { status: exit, rows } = await status();
  return [exit, (await runCommand("doctor", flag())).status, Array.isArray(rows) ? "all" : "partial"];
}

test("status and doctor exit alike where directories are too deep to be searched", async () => {
  mkdirSync(node.at("plugins/a/b/c/d"), { recursive: true });
  expect(await bothExit()).toEqual([3, 3, "partial"]);
  const csiAddress = await node.driverUnder("x.csi");
  expect(await bothExit()).toEqual([1, 1, "partial"]);
  await node.kubelet();
  await (await registrarOf(csiAddress)).state("registered");
  expect(await bothExit()).toEqual([3, 3, "partial"]);
});

(mayMount() ? test : test.skip)("status and doctor exit alike where a mount was not inspected", async () => {
  const volume = node.at("plugins", "x.csi", "volume");
  mkdirSync(volume, { recursive: true });
  using _volume = mountHanging(volume);
  const exits = async () => {
    using one = startCommand(["status", flag(), "-o", "json"]);
    using other = startCommand(["doctor", flag()]);
    return [await one.exitCode(), await other.exitCode()];
  };
  expect(await exits()).toEqual([3, 3]);
  const csiAddress = await node.driverUnder("x.csi");
  await node.kubelet();
  await (await registrarOf(csiAddress)).state("registered");
  // A driver mounts volumes below its own directory; another directory may be that of another driver.
  expect(await exits()).toEqual([0, 0]);
  mkdirSync(node.at("plugins", "other"));
  using _other = mountHanging(node.at("plugins", "other"));
  expect(await exits()).toEqual([3, 3]);
});

test("a state that is unknown because a registrar was not waited for is not a failure", async () => {
  await using _slow = await startForeignSocket(`${node.directory}/x.csi-reg.sock`);
  const ended = await runCommand("status", flag(), "--timeout=200ms");
  expect([ended.status, ended.stdout]).toEqual([
    3,
    expect.stringMatching(/^x\.csi +unknown .* did not answer GetInfo/m),
  ]);
  const partial = {
    error: expect.stringContaining("GetInfo"),
    drivers: [{ name: "x.csi", state: "unknown" }],
  };
  expect(await status("--timeout=200ms")).toMatchObject({ status: 3, rows: partial });
});

test.each([
  ["", '""', "it is empty"],
  ["a/b", "a/b", "it contains '/'"],
  ["..", "..", "it begins with a dot"],
])("status says why no registrar publishes the name %j", async (name, cell, why) => {
  const csiSocket = await node.driverUnder("x.csi", { name });
  const reason = `a registrar refuses the driver's name: ${why}`;
  expect(await status()).toMatchObject({ status: 1, rows: [{ name, state: "unpublished", reason }] });
  for (const command of ["status", "doctor"]) {
    const { stdout } = await runCommand(command, flag());
    expect(stdout.split("\n")[1]).toMatch(new RegExp(`^${cell.replaceAll(".", "\\.")} +unpublished`));
  }
  const named = await runCommand("doctor", flag(), `--csi-address=${csiSocket}`);
  expect(named.stdout).toContain(`PROBLEM CSI004 ${cell}\n`);
  expect(named.stdout).toContain(`causes CSI015: ${cell} has no registration socket`);
});

test("a denied driver without a registrar is not a failure", async () => {
  await node.driverUnder("x.csi");
  for (const [names, reason] of [
    ["--deny-drivers=x.csi,z.csi", "it is among those denied"],
    ["--allow-drivers=y.csi", "it is not among those allowed"],
  ] as const)
    expect(await status(names)).toMatchObject({ status: 0, rows: [{ state: "not-wanted", reason }] });
});

test.each([
  ["nope", /^registrar status: \S+nope is not there\n$/],
  ["file", /^registrar status: \S+file is a file, not a directory\n$/],
])("a missing or invalid directory is reported in place of drivers: %s", async (name, why) => {
  await using folder = await createTempFolder();
  writeFileSync(folder.at("file"), "");
  const path = folder.at(name);
  expect(await runCommand("status", `--plugin-registration-path=${path}`)).toEqual({
    status: 3,
    stdout: "",
    stderr: expect.stringMatching(why),
  });
  const { stdout } = await runCommand("status", `--plugin-registration-path=${path}`, "-o", "json");
  const error = expect.stringContaining(name);
  expect(JSON.parse(stdout)).toEqual({ schema: "registrar.status/1", error, drivers: [] });
});

test("status and doctor judge alike a registrar of another directory, and one that reports no state", async () => {
  mkdirSync(node.at("other"));
  await node.kubelet();
  const paths = ["--csi-address=/csi/x.sock", "--kubelet-registration-path=/csi/x.sock"];
  using registrar = startCommand([...paths, `--plugin-registration-path=${node.at("other")}`, "--v=5"]);
  await eventually(() => expect(registrar.stderr).not.toBe(""));
  const { stdout } = await runCommand("doctor", flag(), "-o", "json");
  const { drivers, findings } = JSON.parse(stdout);
  expect([drivers, await status()]).toEqual([[], { status: 1, rows: [] }]);
  expect(findings).toContainEqual(expect.objectContaining({ code: "CSI024", status: "skipped" }));

  const endpoint = await node.driverUnder("x.csi");
  await node.plugin("x.csi-reg.sock", { name: "x.csi", endpoint });
  expect(await bothExit()).toEqual([0, 0, "all"]);
  expect(await status("--wait=60s")).toMatchObject({ status: 0, rows: [{ state: "unreported" }] });
  await node.plugin("y.csi-reg.sock", { name: "y.csi", endpoint: endpoint.replace("csi.sock", "y.sock") });
  expect(await bothExit()).toEqual([1, 1, "all"]);
});

test("a registration path that is a link to a live driver's socket is to be removed", async () => {
  const csiSocket = await node.driverUnder("x.csi");
  const registrationSocket = `${node.directory}/x.csi-reg.sock`;
  symlinkSync(csiSocket, registrationSocket);
  const reason = `${registrationSocket} is a symbolic link to ${csiSocket}, where no registrar answers`;
  const row = { state: "unpublished", reason, csiSocket, registrationSocket };
  expect(await status()).toMatchObject({ status: 1, rows: [row] });
  const { stdout } = await runCommand("doctor", flag(), "-o", "json");
  expect(JSON.parse(stdout).findings).toContainEqual(
    expect.objectContaining({ code: "CSI015", subject: registrationSocket, fix: "remove it" }),
  );
});

test("--wait ends after its time", async () => {
  await using folder = await createTempFolder();
  jest.spyOn(process.stderr, "write").mockReturnValue(true);
  const waits: number[] = [];
  jest.spyOn(performance, "now").mockImplementation(() => waits.reduce((a, b) => a + b, 0));
  jest.spyOn(timers, "setTimeout").mockImplementation(async (ms = 0) => void waits.push(ms));
  expect(await runStatus([`--plugin-registration-path=${folder.path}`, "--wait=1500ms"])).toBe(1);
  jest.restoreAllMocks();
  expect(waits).toEqual([1000, 500]);
});

test("status sees only the processes of its test", async () => {
  const isThere = (pids: readonly string[]) =>
    [process.pid, process.ppid, 1].map((pid) => pids.includes(String(pid)));
  expect(isThere(await readdir("/proc"))).toEqual([true, false, false]);
  const program = 'require("node:fs/promises").readdir("/proc").then((names) => console.log(names.join()))';
  const { stdout } = await run(process.execPath, ["--eval", program]);
  expect(isThere(stdout.split(","))).toEqual([true, false, false]);
});
