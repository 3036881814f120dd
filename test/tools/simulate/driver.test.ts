import { existsSync } from "node:fs";
import { callUnary, createUnixClient } from "../../../src/grpc/client/unary";
import { protos } from "../../../src/grpc/protos";
import { runCommand } from "../../support/run-command";
import { createTempFolder } from "../../support/temp-folder";
import { type RunningCommand, startCommand } from "../support/command";

const { identity, node } = protos;
const bounds = { timeoutMs: 10_000 };

async function withDriver(
  flags: readonly string[],
  use: (driver: RunningCommand, csiAddress: string) => Promise<void>,
): Promise<void> {
  await using folder = await createTempFolder();
  const csiAddress = folder.at("csi.sock");
  using driver = startCommand(["driver", "--csi-address", csiAddress, "--name", "x.csi", ...flags]);
  await use(driver, csiAddress);
}

test("`driver` prints its options and each call's result as JSON, and ends on SIGINT", () =>
  withDriver(
    [
      ...["--node-id", "n7", "--max-volumes", "5", "--output", "json"],
      ...["--topology", "zone=a", "--topology", "rack=r=1", "--error", "GetPluginInfo=UNAVAILABLE:1"],
      ...["--delay", "NodeGetInfo=1ms", "--hang", "Probe:1"],
    ],
    async (driver, csiAddress) => {
      await driver.object("listening");
      const client = createUnixClient(csiAddress);
      await expect(callUnary(client, identity.GetPluginInfo, {}, bounds)).rejects.toMatchObject({ code: 14 });
      expect(await callUnary(client, identity.GetPluginInfo, {}, bounds)).toMatchObject({ name: "x.csi" });
      expect(await callUnary(client, node.NodeGetInfo, {}, bounds)).toEqual({
        nodeId: "n7",
        maxVolumesPerNode: 5,
        accessibleTopology: { segments: { zone: "a", rack: "r=1" } },
      });
      const hangs = callUnary(client, identity.Probe, {}, { timeoutMs: 100 });
      await expect(hangs).rejects.toMatchObject({ code: 4 });
      expect(await callUnary(client, identity.Probe, {}, bounds)).toMatchObject({});
      client.close();

      expect(await driver.end("SIGINT")).toBe(0);
      const told = driver.lines.map((line) => JSON.parse(line));
      expect(told.flatMap(({ fault }) => fault ?? [])).toEqual([
        { kind: "error", method: "GetPluginInfo", code: "UNAVAILABLE", times: 1 },
        { kind: "slow", method: "NodeGetInfo", delayMs: 1 },
        { kind: "hang", method: "Probe", times: 1 },
      ]);
      const others = told.filter(({ method, fault }) => method !== "Probe" && fault?.method !== "Probe");
      const steps = others.map(({ kind, method, result }) => [kind, method, result?.kind].join(" ").trim());
      const asked = ["called GetPluginInfo", "answered GetPluginInfo ok"];
      const failed = ["called GetPluginInfo", "fault-applied", "answered GetPluginInfo error"];
      const informed = ["called NodeGetInfo", "fault-applied", "answered NodeGetInfo ok"];
      expect(steps).toEqual(["listening", ...failed, ...asked, ...informed, "stopped"]);
      expect(told[1].authority).toBe("localhost");
      expect(driver.stderr).toBe("");
      expect(existsSync(csiAddress)).toBe(false);
    },
  ));

test("`driver` does not take the socket of a driver that listens", () =>
  withDriver([], async (driver, csiAddress) => {
    await driver.line(/"listening"/);
    const { status, stderr } = await runCommand("driver", "--csi-address", csiAddress, "--name", "y.csi");
    expect(stderr).toMatch(
      /a process listens on \S+csi\.sock already: stop that driver first, or give another/,
    );
    expect(status).toBe(1);
  }));

test("`driver` prints its limits and each call's result as text", () =>
  withDriver([], async (driver, csiAddress) => {
    await driver.line(/it provisions, attaches and mounts nothing/);
    await driver.line(/"listening" csiAddress=".*csi\.sock"$/);
    const client = createUnixClient(csiAddress);
    await callUnary(client, identity.GetPluginInfo, {}, bounds);
    const unknown = { ...identity.Probe, path: "/csi.v1.Controller/CreateVolume" };
    await expect(callUnary(client, unknown, {}, bounds)).rejects.toMatchObject({ code: 12 });
    client.close();
    await driver.line(/"answered" method="GetPluginInfo" durationMs=[\d.]+ result={"kind":"ok"}$/);
    await driver.line(/"called" method="CreateVolume" authority="localhost" timeoutMs=\d+$/);
    expect(await driver.end("SIGTERM")).toBe(0);
  }));

test("`driver` that cannot listen prints one line and exits with 1", async () => {
  const { status, stderr } = await runCommand("driver", "--csi-address=/nowhere/csi.sock", "--name=x.csi");
  expect(stderr).toMatch(/^registrar driver: cannot listen on \/nowhere\/csi\.sock: .*\n$/);
  expect(status).toBe(1);
});
