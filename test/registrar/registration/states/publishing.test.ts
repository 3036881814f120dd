import fs, { existsSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { systemError } from "../../../../src/base/errors";
import { startNodeRegistrar } from "../../../../src/registrar/start-node-registrar";
import { registerOnce } from "../../../support/dial-registration";
import { eachTest } from "../../../support/each-test";
import { eventually } from "../../../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../../../support/foreign-socket";
import { unusable } from "../../../support/owned-socket";
import { recordLog } from "../../../support/recorded-log";
import { createTestNode, ENDPOINT, startTestRegistrar } from "../../../support/registrar-node";
import { type ScriptedDriver, startScriptedDriver } from "../../../support/scripted-driver";

const name = "x.csi";
const ALIAS = "x.csi-_abc";
const node = eachTest(createTestNode);
let driver: ScriptedDriver;
beforeEach(async () => {
  driver = node.keep(await startScriptedDriver(node.csiAddress, { name }));
});

/** Comes before each such call with the registration directory. */
function beforeEachCall(name: "stat" | "readdir", act: () => unknown): void {
  const call = fs.promises[name] as (...args: unknown[]) => Promise<unknown>;
  jest.spyOn(fs.promises, name).mockImplementation((async (path: string, ...options: unknown[]) => {
    if (path === node.pluginRegistrationPath) await act();
    return call(path, ...options);
  }) as never);
}
afterEach(() => jest.restoreAllMocks());

const failed = (text: string) => ({ kind: "failed", error: unusable(text) });

describe("the first time", () => {
  test("a missing directory ends the registration", async () => {
    rmSync(node.pluginRegistrationPath, { recursive: true });
    const { registrar, log } = await startTestRegistrar(node);
    expect(await registrar.closed).toEqual(failed("ENOENT: the directory does not exist: is it mounted?"));
    expect(log.all("Failed to listen on socket")).toHaveLength(1);
  });

  test("a file system that does not answer in time is tried again", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    beforeEachCall("stat", () => held);
    await using started = await startTestRegistrar(node);
    const { error } = await started.log.when("Failed to listen on socket");
    expect((error as Error).message).toContain("ETIMEDOUT: its file system does not answer");
    release();
    await started.state("listening");
    expect(started.log.all("Starting Registration Server")).toHaveLength(1); // As often as the official one writes it.
  });

  test.each(["EACCES", "EPERM"])(
    "a directory that may not be listed (%s) is a warning only",
    async (code) => {
      beforeEachCall("readdir", () => {
        throw systemError(code);
      });
      await using started = await startTestRegistrar(node);
      const { severity, fields } = await started.log.when(
        "Cannot see whether another registrar has published the driver under another name",
      );
      const { pluginRegistrationPath } = node;
      const check = "may this process list that directory: its mode, SELinux, AppArmor?";
      const err = systemError(code).message;
      expect([severity, fields]).toEqual(["warning", { pluginRegistrationPath, err, check }]);
      await started.state("listening");
    },
  );

  test("a directory that cannot be listed may have another registrar's alias: it is listed again first", async () => {
    await leaveDeadSocket(node.socketPath(ALIAS));
    let fails = 3;
    beforeEachCall("readdir", () => {
      if (fails-- > 0) throw systemError("EMFILE");
    });
    await using started = await startTestRegistrar(node);
    const { error } = await started.log.when("Failed to listen on socket");
    expect((error as Error).message).toContain("EMFILE");
    await started.state("listening");
    expect(started.registrar.status().registrationSocketPath).toBe(node.socketPath(ALIAS));
    expect(existsSync(node.socketPath(name))).toBe(false);
  });

  test("the driver's own socket in its place ends the registrar, and stays", async () => {
    const csiAddress = node.socketPath(name);
    await using _driver = await startScriptedDriver(csiAddress, { name });
    const { ino } = lstatSync(csiAddress);
    const { registrar } = await startTestRegistrar(node, { csiAddress });
    expect(await registrar.closed).toEqual(failed(`${csiAddress} is the driver's own socket`));
    expect(lstatSync(csiAddress).ino).toBe(ino);
  });

  test.each<[string, (path: string) => Promise<unknown>, object]>([
    ["nothing", async () => {}, {}],
    ["a dead socket", leaveDeadSocket, { found: "dead" }],
    ["a living socket, as in a rolling update,", startForeignSocket, { found: "taken" }],
  ])("%s is replaced, with the official registrar's two log lines", async (_what, make, found) => {
    const socketPath = node.socketPath(name);
    const theirs = await make(socketPath);
    await using started = await startTestRegistrar(node);
    await started.state("listening");
    expect((await started.log.when("Starting Registration Server")).fields).toEqual({ socketPath });
    expect((await started.log.when("Registration Server started")).fields).toEqual({ socketPath, ...found });
    expect((await registerOnce(node.socketPath(name))).name).toBe(name);
    await (theirs as AsyncDisposable | undefined)?.[Symbol.asyncDispose]();
  });

  // Before the last look, and after it, as in a process that is frozen in between.
  test.each([
    ["chmod", 1],
    ["link", 2],
  ] as const)(
    "a registrar that publishes under an alias before our %s is replaced there, and no second socket stays",
    async (name, publications) => {
      const socketPath = node.socketPath(ALIAS);
      const call = fs.promises[name] as (...given: unknown[]) => Promise<void>;
      const called = jest.spyOn(fs.promises, name).mockImplementationOnce(async (...given: unknown[]) => {
        node.keep(await startForeignSocket(socketPath, (socket) => socket.destroy()));
        return call(...given);
      });
      await using started = await startTestRegistrar(node);
      const { fields } = await started.log.when("Registration Server started", publications);
      expect(fields).toEqual({ socketPath, found: "taken" });
      expect(existsSync(node.socketPath())).toBe(false);
      called.mockRestore();
    },
  );
});

// Its look at the other sockets, after it is in place, may take longer than kubelet.
test.each<[string, string | undefined]>([
  ["the driver's own name", undefined],
  ["an alias", ALIAS],
])("what kubelet says before the publication under %s has ended counts afterwards", async (_what, alias) => {
  const socketPath = node.socketPath(alias);
  if (alias) await leaveDeadSocket(socketPath);
  const inodeNow = () => lstatSync(socketPath, { throwIfNoEntry: false })?.ino;
  const before = inodeNow();
  let calls: Promise<unknown> | undefined;
  beforeEachCall("readdir", async () => {
    if (inodeNow() === before) return;
    calls ??= registerOnce(socketPath);
    await calls;
  });
  await using started = await startTestRegistrar(node);
  await started.state("registered");
});

test("a look at the other sockets that fails, once ours is in place, changes nothing", async () => {
  let failed = 0;
  beforeEachCall("readdir", () => {
    if (!existsSync(node.socketPath(name))) return;
    failed += 1;
    throw systemError("EIO");
  });
  await using started = await startTestRegistrar(node);
  await eventually(() => expect(failed).toBeGreaterThan(0));
  await started.accept();
  expect(started.log.all("Registration cannot go on")).toEqual([]);
});

test("a mute socket under an alias counts as this driver's, and ours replaces it", async () => {
  const alias = node.socketPath(`${name}-_a1b`);
  await using _mute = await startForeignSocket(alias);
  await using started = await startTestRegistrar(node, { timeoutMs: 300 });
  await started.state("listening");
  expect(started.registrar.status().registrationSocketPath).toBe(alias);
});

describe("later on", () => {
  test("a directory that vanished during standby is waited for", async () => {
    const log = recordLog();
    await using peer = await startForeignSocket(node.socketPath(name));
    await using _fleet = await startNodeRegistrar({
      csiAddresses: [node.csiAddress],
      endpoints: [ENDPOINT],
      pluginRegistrationPath: node.pluginRegistrationPath,
      logger: log.logger,
    });
    await log.when("Standing by for the registrar that holds the socket");
    expect(log.all("Registration Server started")).toEqual([]);
    rmSync(node.pluginRegistrationPath, { recursive: true });
    await peer.kill();
    await log.when("Failed to listen on socket");
    mkdirSync(node.pluginRegistrationPath);
    await log.when("Registration Server started");
    // It is the same registration, not one that was begun anew half a minute later.
    expect(log.all("Trying again later, or when the CSI driver restarts")).toEqual([]);
    expect((await registerOnce(node.socketPath(name))).name).toBe(name);
  });

  test("the registration stands by for a registrar under an alias, and takes over that alias", async () => {
    await using started = await startTestRegistrar(node);
    await started.accept();
    await using peer = await startForeignSocket(node.socketPath(ALIAS), (socket) => socket.destroy());
    rmSync(node.socketPath(name));
    await started.state("standby");
    expect(existsSync(node.socketPath(name))).toBe(false);
    await peer.kill();
    await started.state("listening");
    expect(started.registrar.status().registrationSocketPath).toBe(node.socketPath(ALIAS));
    expect(started.registrar.status().counters.publications).toEqual({ "driver-named": 1, "peer-gone": 1 });
  });

  test("a failure to publish is logged, and the driver may change its name meanwhile", async () => {
    await using started = await startTestRegistrar(node);
    await started.state("listening");
    rmSync(node.pluginRegistrationPath, { recursive: true });
    await started.log.when("Failed to listen on socket");
    const text = expect.stringMatching(
      /^cannot publish the registration socket: cannot listen .* ENOENT: the dir/,
    );
    // A second passes before the next try; without a pause there would be hundreds in this time.
    await delay(300);
    expect(started.log.all("Failed to listen on socket").length).toBeLessThan(3);
    const { state, trouble } = started.registrar.status();
    expect({ state, trouble }).toEqual({ state: "publishing", trouble: { kind: "not-published", text } });
    await driver.kill();
    await using _renamed = await startScriptedDriver(node.csiAddress, { name: "y.csi" });
    await eventually(() => expect(started.registrar.status().identity?.name).toBe("y.csi"));

    mkdirSync(node.pluginRegistrationPath);
    await started.state("listening");
    expect(started.registrar.status().trouble).toBeUndefined();
    expect((await registerOnce(node.socketPath("y.csi"))).name).toBe("y.csi");
  });
});

test.each([
  ["takes that name's place from a living socket", "y.csi", startForeignSocket, "taken"],
  ["goes by the alias that a registrar of that name left", "y.csi-_abc", leaveDeadSocket, "dead"],
] as const)("a driver that comes back under another name %s", async (_what, file, make, found) => {
  await using started = await startTestRegistrar(node);
  await started.state("listening");
  const socketPath = node.socketPath(file);
  const theirs = await make(socketPath);
  await driver.kill();
  await using _renamed = await startScriptedDriver(node.csiAddress, { name: "y.csi" });
  const { fields } = await started.log.when("Registration Server started", 2);
  expect(fields).toEqual({ socketPath, found });
  expect((await registerOnce(socketPath)).name).toBe("y.csi");
  await theirs?.[Symbol.asyncDispose]();
});
