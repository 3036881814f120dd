import { renameSync, rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { controlWaits } from "../../support/controlled-waits";
import { dialRegistration } from "../../support/dial-registration";
import { eachTest } from "../../support/each-test";
import { eventually } from "../../support/eventually";
import type { startTestFleet as startFleet } from "../../support/fleet-node";
import { expectNothingLeft } from "../../support/resources";

// Without its net, the poll every 5 s: everything must be noticed when it happens.
controlWaits({ fromMs: 5_000 });
const loading = import("../../support/fleet-node");
const startTestFleet = async (...given: Parameters<typeof startFleet>) =>
  (await loading).startTestFleet(...given);
const node = eachTest(async () => (await loading).createFleetNode());

const FOR_LONG = { driverGoneAfterMs: 3_600_000 };
const SOON = { driverGoneAfterMs: 50 };
const GONE = "CSI driver has gone";
const TAKEN = "Another CSI driver on this node has the name, waiting";

describe("coming and going", () => {
  test.each(["stop", "kill"] as const)("a driver that stays away is deregistered, after %s", async (how) => {
    const driver = await node.driver("a.csi");
    await using started = await startTestFleet(node, SOON);
    await started.register("a.csi");
    await driver[how]();
    expect((await started.log.when(GONE)).fields).toEqual({
      csiAddress: node.csiAddress("a.csi"),
      reason: "not there for 0.05s",
    });
    // A socket on which nobody listens is waited for; where there is none, its folder is watched.
    await started.state("a.csi", how === "kill" ? "waiting" : undefined);
    expect(node.sockets()).toEqual([]);
    await node.driver("a.csi");
    await started.register("a.csi");
    await started.state("a.csi", "registered");
  });

  test("a driver whose directory is removed is deregistered at once; an empty directory registers none", async () => {
    await node.driver("a.csi");
    await using started = await startTestFleet(node, FOR_LONG);
    await started.register("a.csi");
    renameSync(node.at("plugins", "a.csi"), node.at("away"));
    await started.state("a.csi", undefined);
    expect(node.sockets()).toEqual([]);
    expect((await started.log.when(GONE)).fields.reason).toBe("its directory is gone");
    renameSync(node.at("away"), node.at("plugins", "b.csi"));
    await started.register("a.csi");
    await started.state("b.csi", "registered");
  });

  test("a driver without a name leaves nothing when its socket is removed", async () => {
    const driver = await node.driver("a.csi", "hang");
    await using started = await startTestFleet(node, FOR_LONG);
    await driver.called(1);
    await started.state("a.csi", "waiting");
    await driver.stop();
    await started.state("a.csi", undefined);
  });

  test("a folder that is away for a moment while a call is running ends that call's registrar only", async () => {
    await node.driver("a.csi");
    await using started = await startTestFleet(node, FOR_LONG);
    await started.state("a.csi", "listening");
    using kubelet = dialRegistration(node.socketPath("a.csi"));
    await kubelet.getInfo();
    await started.state("a.csi", "asked");
    renameSync(node.at("plugins", "a.csi"), node.at("away"));
    await started.log.when(GONE);
    await eventually(() => expect(node.sockets()).toEqual([]));
    renameSync(node.at("away"), node.at("plugins", "a.csi"));
    await started.register("a.csi");
    await started.state("a.csi", "registered");
    // Its own former self is not another driver.
    expect(started.log.all(TAKEN)).toEqual([]);
  });
});

describe("names", () => {
  test("the second driver of a name is published when the first leaves", async () => {
    await node.driver("first", { name: "a.csi" });
    await using started = await startTestFleet(node, FOR_LONG);
    expect(await started.register("a.csi")).toBe("/host/first/csi.sock");
    await node.driver("second", { name: "a.csi" });
    expect((await started.log.when(TAKEN)).fields).toEqual({
      csiAddress: node.csiAddress("second"),
      csiDriverName: "a.csi",
      other: node.csiAddress("first"),
    });
    await started.trouble("second", "name-withheld");
    node.remove("first");
    await started.state("second", "listening");
    expect(await started.register("a.csi")).toBe("/host/second/csi.sock");
    expect(started.fleet.all.map((one) => one.status().trouble)).toEqual([undefined]);
  });

  test("a driver that comes back under a denied name is no longer published", async () => {
    const driver = await node.driver("folder", { name: "a.csi" });
    await using started = await startTestFleet(node, { ...FOR_LONG, names: { deny: ["b.csi"] } });
    await started.register("a.csi");
    await driver.stop();
    await node.driver("folder", { name: "b.csi" });
    await started.log.when("CSI driver is excluded by the name lists");
    await started.trouble("folder", "not-wanted");
    expect(node.sockets()).toEqual([]);
    // The former name is free.
    await node.driver("other", { name: "a.csi" });
    expect(await started.register("a.csi")).toBe("/host/other/csi.sock");
  });

  test("of drivers that come and go under one name, a present one holds it in the end", async () => {
    await using started = await startTestFleet(node, SOON);
    const folders = ["f0", "f1", "f2", "f3", "f4"];
    const come = (folder: string) => node.driver(folder, { name: "a.csi" });
    for (let round = 0; round < 10; round++) {
      await Promise.all(folders.map(come));
      for (const [index, folder] of folders.entries()) {
        // Some before they are asked, some while they wait for the name, some when they have it.
        if (index === round % 5) await delay(round);
        rmSync(node.at("plugins", folder), { recursive: true });
      }
    }
    await come("last");
    await started.state("last", "listening");
    expect(await started.register("a.csi")).toBe("/host/last/csi.sock");
    await eventually(() => expect(started.fleet.all).toHaveLength(1));
  });
});

test("nothing is left of drivers that came and went, nor of the fleet", async () => {
  await expectNothingLeft(async () => {
    await using started = await startTestFleet(node, SOON);
    for (const round of [1, 2]) {
      const names = Array.from({ length: 12 }, (_, number) => `r${round}-${number}.csi`);
      const drivers = await Promise.all(names.map((name) => node.driver(name)));
      await Promise.all(names.map(started.register));
      await Promise.all(drivers.map((driver) => driver.stop()));
      if (round === 1) await started.log.when(GONE, 12);
      for (const name of names) node.remove(name);
      await eventually(() => expect(started.fleet.all).toEqual([]));
    }
    await using _evil = await node.driver("evil", { name: "../evil" });
    await using _hangs = await node.driver("hangs", "hang");
    await started.trouble("evil", "failed");
    await started.state("hangs", "waiting");
  });
});
