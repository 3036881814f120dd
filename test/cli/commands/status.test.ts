import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { startCsiDriver, startKubelet } from "../../../src/testing";
import { eventually } from "../../support/eventually";
import { leaveDeadSocket } from "../../support/foreign-socket";
import { mayMount, mountHanging } from "../../support/hanging-mount";
import { startTestRegistrar } from "../../support/registrar-node";
import { runCommand } from "../../support/run-command";
import { createTempFolder } from "../../support/temp-folder";
import { startCommand } from "./support/command";

async function makeNode() {
  const folder = await createTempFolder();
  const pluginRegistrationPath = folder.at("plugins_registry");
  const csiAddress = folder.at("plugins", "x.csi", "csi.sock");
  mkdirSync(pluginRegistrationPath);
  mkdirSync(folder.at("plugins", "x.csi"), { recursive: true });
  const paths = { csiAddress, pluginRegistrationPath, kubeletRegistrationPath: csiAddress };
  return {
    folder,
    flag: `--plugin-registration-path=${pluginRegistrationPath}`,
    csiAddress,
    driver: () => startCsiDriver({ csiAddress, name: "x.csi" }),
    kubelet: () => startKubelet({ pluginRegistrationPath, reconcilePeriodMs: 10 }),
    registrar: () => startTestRegistrar({ options: paths }),
  };
}

test("a driver without a registrar, and one that is registered", async () => {
  const { folder, flag, ...node } = await makeNode();
  await using _folder = folder;
  const none = await runCommand("status", flag);
  expect([none.status, none.stdout]).toEqual([1, ""]);
  expect(none.stderr).toMatch(/^registrar status: no driver in /);
  const empty = { status: 1, stdout: "[]\n", stderr: "" };
  expect(await runCommand("status", flag, "-o", "json")).toMatchObject(empty);

  const driver = await node.driver();
  await using _driver = driver;
  using watching = startCommand(["status", flag, "--watch", "-o", "json"]);
  await watching.line(/"state":"unpublished"/);
  using waiting = startCommand(["status", flag, "--wait=60s"]);
  {
    await using kubelet = await node.kubelet();
    await using _registrar = await node.registrar();
    await kubelet.registered("x.csi");
    await watching.line(/"name":"x\.csi","state":"registered","since":"\d{4}-/);
    expect(await waiting.exitCode()).toBe(0);
    using once = startCommand(["status", flag, "--timeout=30s"]);
    expect(await once.exitCode()).toBe(0);
    expect(once.lines[0]).toMatch(/^DRIVER +STATE +SINCE +REASON +DRIVER SOCKET$/);
    expect(once.lines[1]).toMatch(/^x\.csi +registered +\d{4}-\S+Z +- +\/.*csi\.sock$/);
  }
  const states = () => watching.lines.map((line) => JSON.parse(line).state);
  await eventually(() => expect(states().at(-1)).toBe("unpublished"));
  expect(states()).not.toContain("gone");
  await driver[Symbol.asyncDispose]();
  await watching.line(/"state":"gone"/);
  expect(await watching.end("SIGINT")).toBe(0);
});

test("a killed registrar's socket is told, with its driver or without", async () => {
  const { folder, flag, ...node } = await makeNode();
  await using _folder = folder;
  const socketPath = folder.at("plugins_registry", "x.csi-reg.sock");
  await leaveDeadSocket(socketPath);
  const row = {
    name: "x.csi",
    state: "dead",
    since: null,
    reason: `${socketPath} was left behind by the registrar of x.csi: no process listens on it`,
    csiSocket: null,
    registrationSocket: socketPath,
    waitingPods: null,
  };
  const rows = async () => {
    const { status, stdout, stderr } = await runCommand("status", flag, "-o", "json");
    expect([status, stderr]).toEqual([1, ""]);
    return JSON.parse(stdout);
  };
  expect(await rows()).toEqual([row]);
  const { status, stdout } = await runCommand("doctor", flag, "-o", "json");
  expect([status, JSON.parse(stdout).findings]).toEqual([
    1,
    expect.arrayContaining([
      expect.objectContaining({ code: "CSI019", status: "problem", subject: socketPath }),
    ]),
  ]);
  await using _driver = await node.driver();
  expect(await rows()).toEqual([{ ...row, csiSocket: folder.at("plugins", "x.csi", "csi.sock") }]);
});

test("a registrar that is frozen is told", async () => {
  const { folder, flag, csiAddress, ...node } = await makeNode();
  await using _folder = folder;
  await using _driver = await node.driver();
  using registrar = startCommand([
    ...[flag, `--csi-address=${csiAddress}`, `--kubelet-registration-path=${csiAddress}`],
    `--termination-log=${folder.at("log")}`,
  ]);
  const look = async () => JSON.parse((await runCommand("status", flag, "-o", "json")).stdout);
  await eventually(async () => expect(await look()).toMatchObject([{ state: "listening" }]));
  process.kill(registrar.pid, "SIGSTOP");
  expect(await look()).toMatchObject([{ name: "x.csi", state: "hanging", csiSocket: csiAddress }]);
  const { stdout } = await runCommand("doctor", flag);
  expect(stdout).toMatch(/PROBLEM +CSI015 .*: the\s+registrar\s+of\s+x\.csi\s+hangs/s);
  expect(stdout.match(/PROBLEM|WARNING {2}/g)).toEqual(["PROBLEM"]);
});

test("registrars that are seen only as processes: one that waits for its driver, and two of one driver", async () => {
  const { folder, flag, csiAddress } = await makeNode();
  await using _folder = folder;
  const start = (name: string, env = {}, ...directory: readonly string[]) =>
    startCommand(
      [
        ...[
          ...directory,
          `--csi-address=${folder.at(name)}`,
          `--kubelet-registration-path=/k/plugins/${name}`,
        ],
        `--termination-log=${folder.at("log")}`,
      ],
      env,
    );
  // Outside of a container the registrar has its directory from the environment.
  using waiting = existsSync("/registration")
    ? start("a.sock", {}, flag)
    : start("a.sock", { KUBELET_ROOT_DIR: folder.path });
  await eventually(async () => {
    const { status, stdout } = await runCommand("status", flag, "-o", "json");
    const row = { name: null, state: "waiting", csiSocket: "/k/plugins/a.sock" };
    expect([status, JSON.parse(stdout)]).toMatchObject([1, [row]]);
  });
  const findings = async (...words: readonly string[]) => {
    const { findings } = JSON.parse((await runCommand("doctor", flag, "-o", "json", ...words)).stdout);
    return findings.filter(({ code }: { code: string }) => code === "CSI024");
  };
  const text = `(process ${waiting.pid}) waits for its driver: ${folder.at("a.sock")} is not there`;
  expect(await findings()).toMatchObject([{ status: "problem", subject: "a registrar", text }]);
  expect(await findings(`--csi-address=${csiAddress}`)).toMatchObject([{ status: "warning", text }]);

  using second = start("a.sock", {}, flag);
  const both = [waiting.pid, second.pid].sort((one, other) => one - other).join(", ");
  await eventually(async () =>
    expect(await findings()).toContainEqual(
      expect.objectContaining({
        subject: "/k/plugins/a.sock",
        text: `has 2 registrars on this node: processes ${both}`,
      }),
    ),
  );
});

// Where /dev/fuse is missing, or this user may not mount, no file system can be made to hang.
(mayMount() ? test : test.skip)("mounts that never answer are left out, and told", async () => {
  const { folder, flag, ...node } = await makeNode();
  await using _folder = folder;
  await using _driver = await node.driver();
  await using registrar = await node.registrar();
  await registrar.state("listening");
  const paths = [folder.at("plugins", "evil"), folder.at("plugins_registry", "evil")];
  for (const path of paths) mkdirSync(path);
  using _below = mountHanging(paths[0] ?? "");
  using _beside = mountHanging(paths[1] ?? "");

  using status = startCommand(["status", flag]);
  expect(await status.exitCode()).toBe(1);
  expect(status.lines.join("\n")).toMatch(/^x\.csi +listening /m);
  for (const path of paths)
    expect(status.stderr).toContain(`${path} is a mount of fuse, whose server may not`);

  using doctor = startCommand(["doctor", flag, "-o", "json"]);
  expect(await doctor.exitCode()).toBe(1);
  const { findings } = JSON.parse(doctor.lines.join("\n"));
  for (const path of paths)
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "CSI020", status: "unknown", subject: path }),
    );

  // A look at a path that leads into such a mount is bounded.
  using into = startCommand(["doctor", flag, `--csi-address=${paths[0]}/csi.sock`, "-o", "json"]);
  await into.line(/"text": "cannot be looked at: ETIMEDOUT, its file system does not answer"/);
  // Before Node 22.15 it can only kill itself.
  expect(await into.exitCode()).toBe("execve" in process ? 1 : null);
});

test("a driver that is denied, or not allowed, is well without a registrar", async () => {
  const { folder, flag, ...node } = await makeNode();
  await using _folder = folder;
  await using _driver = await node.driver();
  const told = async (...flags: readonly string[]) => {
    const { status, stdout } = await runCommand("status", flag, "-o", "json", ...flags);
    const [{ state, reason }] = JSON.parse(stdout);
    return { status, state, reason };
  };
  const state = "not-wanted";
  const denied = { status: 0, state, reason: "it is among those denied" };
  expect(await told("--deny-drivers=x.csi,z.csi")).toEqual(denied);
  const notAllowed = { status: 0, state, reason: "it is not among those allowed" };
  expect(await told("--allow-drivers=y.csi")).toEqual(notAllowed);
  expect(await told()).toMatchObject({ status: 1, state: "unpublished" });
});

test.each([
  ["nope", "missing"],
  ["file", "not-a-folder"],
])("a folder that is not there, or is none, is told in place of drivers: %s", async (name, why) => {
  await using folder = await createTempFolder();
  writeFileSync(folder.at("file"), "");
  const path = folder.at(name);
  expect(await runCommand("status", `--plugin-registration-path=${path}`)).toEqual({
    status: 3,
    stdout: "",
    stderr: `registrar status: cannot read ${path}: ${why}\n`,
  });
});
