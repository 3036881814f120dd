import fs, { readdirSync, renameSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { systemError } from "../../../../src/base/errors";
import { controlWaits } from "../../../support/controlled-waits";
import { dialRegistration, registerOnce } from "../../../support/dial-registration";
import { eachTest } from "../../../support/each-test";
import { eventually } from "../../../support/eventually";
import { leaveDeadSocket } from "../../../support/foreign-socket";
import { watchNames } from "../../../support/owned-socket";
import { startScriptedDriver } from "../../../support/scripted-driver";

const waits = controlWaits({ fromMs: 2_000 });
const mounts = jest.requireActual<typeof import("../../../../src/unix/mounts")>(
  "../../../../src/unix/mounts",
);
/** The registration directory is a volume. */
const readMounts = () => [
  ...(mounts.readMounts() ?? []),
  { device: "8:1", mountPoint: node.pluginRegistrationPath, root: "/data/registry", fileSystem: "ext4" },
];
jest.doMock("../../../../src/unix/mounts", () => ({ ...mounts, readMounts }));
const loading = import("../../../support/registrar-node");

const name = "x.csi";
const node = eachTest(async () => (await loading).createTestNode());
const start = async () => (await loading).startListening(node);
const files = () => readdirSync(node.pluginRegistrationPath);

/** How long kubelet may be silent after a leftover before it is taken to back off. */
const MOVE_AFTER_MS = 2_500;
const ALIAS = /^x\.csi-_[0-9a-z]{3}-reg\.sock$/;

describe("a socket that was left behind", () => {
  test.each([true, false])(
    "is left once for another name, because kubelet backs off from it; still there %s",
    async (isThere) => {
      if (isThere) await leaveDeadSocket(node.socketPath(name));
      await using started = await start();
      expect(node.visibleFiles()).toEqual([`${name}-reg.sock`]);
      using seen = watchNames(node.pluginRegistrationPath);

      await waits.end(MOVE_AFTER_MS);

      await eventually(() => expect(node.visibleFiles()).toEqual([expect.stringMatching(ALIAS)]));
      const [alias = ""] = node.visibleFiles();
      // Never two of them: the end of either deregisters both.
      await eventually(() => expect(seen.visible().slice(-2)).toEqual([`${name}-reg.sock`, alias]));
      await started.state("listening");
      const moved = await started.log.when(
        "Kubelet has not called and may back off from the socket, publishing under another name",
      );
      const now = node.socketPath(alias.replace("-reg.sock", ""));
      expect(moved.fields).toEqual({ was: node.socketPath(name), now });
      expect(started.registrar.status()).toMatchObject({
        registrationSocketPath: now,
        counters: { publications: { "driver-named": 1, "kubelet-silent": 1 } },
      });
      expect(waits.pending()).not.toContain(MOVE_AFTER_MS);

      expect((await registerOnce(now)).name).toBe(name);
      await started.state("registered");
      await started.registrar.close();
      expect(files()).toEqual([]);
    },
  );

  test("does not move a socket that was registered once", async () => {
    await leaveDeadSocket(node.socketPath(name));
    await using started = await start();
    await started.accept();
    expect(waits.pending()).not.toContain(MOVE_AFTER_MS);
    rmSync(node.socketPath(name));
    await started.state("listening");
    await eventually(() => expect(waits.pending()).toContain(30_000));
    expect(waits.pending()).not.toContain(MOVE_AFTER_MS);
  });
});

test("a name that is too long for another is kept", async () => {
  const longest = "n".repeat(107 - node.socketPath("").length);
  await using _driver = await startScriptedDriver(node.csiAddress, { name: longest });
  // Under a short name first: the helper needs a byte more than the name has room for.
  await leaveDeadSocket(node.socketPath(name));
  renameSync(node.socketPath(name), node.socketPath(longest));
  await using started = await (await loading).startTestRegistrar(node);
  await started.state("listening");
  await waits.end(MOVE_AFTER_MS);
  await started.log.when("Kubelet may back off from the socket, and its path has no room for another name");
  expect(node.visibleFiles()).toEqual([`${longest}-reg.sock`]);
  expect((await registerOnce(node.socketPath(longest))).name).toBe(longest);
  await started.state("registered");
});

describe("kubelet's silence", () => {
  test("is logged at growing intervals, with what to check", async () => {
    await using started = await start();
    await waits.end(MOVE_AFTER_MS);
    await started.log.when("Registration Server started", 2);
    await started.state("listening");
    expect(waits.pending()).not.toContain(MOVE_AFTER_MS); // It moves once.
    const waited = [];
    for (const ms of [30_000, 120_000, 600_000, 3_600_000, 3_600_000]) {
      await waits.end(ms);
      waited.push((await started.log.when("Kubelet has not called", waited.length + 1)).fields.waited);
    }
    expect(waited).toEqual(["30s", "150s", "750s", "4350s", "7950s"]);
    const { severity, fields } = await started.log.when("Kubelet has not called");
    expect(severity).toBe("warning");
    expect(fields).toMatchObject({
      socketPath: started.registrar.status().registrationSocketPath,
      check: expect.stringMatching(/^\S+ \(\/data\/registry on its file system\) must be .*SELinux/),
    });
    jest.spyOn(fs.promises, "realpath").mockRejectedValue(systemError("EIO"));
    await waits.end(3_600_000);
    const unread = await started.log.when("Kubelet has not called", 6);
    expect(unread.fields.check).toMatch(/^\S+ must be/);
  });

  test("is distinguished from a client that does not speak the protocol", async () => {
    await using started = await start();
    const client = connect({ path: node.socketPath(name) });
    client.end("GET / HTTP/1.1\r\n\r\n");
    await new Promise((resolve) => client.resume().once("close", resolve));
    await waits.end(30_000);
    const { fields } = await started.log.when("Kubelet has not called");
    expect(fields.check).toContain("violated HTTP/2");
  });

  test("after GetInfo is logged too", async () => {
    await using started = await start();
    using kubelet = dialRegistration(node.socketPath(name));
    await kubelet.getInfo();
    await started.state("asked");
    await waits.end(150_000);
    const { severity, fields } = await started.log.when(
      "Kubelet called GetInfo and has not reported a status",
    );
    expect({ severity, waited: fields.waited }).toEqual({ severity: "warning", waited: "150s" });
  });
});
