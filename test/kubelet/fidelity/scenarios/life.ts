import { renameSync, unlinkSync } from "node:fs";
import { unlink } from "node:fs/promises";
import type { Scripts } from "../scripted-node";

const TOPOLOGY = { "x.csi/zone": "z1", "x.csi/rack": "r1" };

/** From a driver's registration to its end, and kubelet's. */
export const life: Scripts = {
  "registers a driver": async (node) => {
    await node.registered({ topology: TOPOLOGY, maxVolumes: 5 });
  },
  "registers two drivers at once": async (node) => {
    await node.driver({ name: "x.csi", topology: { "x.csi/zone": "z1" } });
    // Up to 1.31 kubelet guards its writes by what the API server refuses, and the fake one refuses nothing.
    const later = [{ kind: "slow", method: "NodeGetInfo", delayMs: 500 }] as const;
    await node.driver({ name: "y.csi", topology: { "y.csi/zone": "z2" }, faults: later });
    const registrars = await Promise.all([
      node.registrar({ name: "x.sock", info: { name: "x.csi" } }),
      node.registrar({ name: "y.sock", info: { name: "y.csi" } }),
    ]);
    await Promise.all(registrars.map((registrar) => registrar.registered()));
  },
  "deregisters a driver whose socket is removed": async (node) => {
    const { registrar } = await node.registered({ topology: TOPOLOGY });
    await registrar.close();
    await node.deregistered();
  },
  "registers again what was removed and came back in a moment": async (node) => {
    await node.registered();
    const second = await node.registrar({ name: ".next.sock" });
    unlinkSync(node.at("a.sock")); // In one turn: a round of kubelet's loop in between would find none.
    renameSync(node.at(".next.sock"), node.at("a.sock"));
    await second.registered();
  },
  "registers again what was replaced by rename, and asks the driver again": async (node) => {
    const { driver } = await node.registered({ maxVolumes: 5 });
    await driver.close();
    await node.registered({ maxVolumes: 6, nodeId: "another ID" });
  },
  "deregisters a driver whose socket goes while NodeGetInfo runs, once that is over": async (node) => {
    const driver = await node.driver({ faults: [{ kind: "slow", method: "NodeGetInfo", delayMs: 2000 }] });
    await node.registrar();
    await driver.events.when("fault-applied");
    await unlink(node.at("a.sock"));
    await node.deregistered();
  },
  "asks the driver again when it was killed while NodeGetInfo ran": async (node) => {
    const driver = await node.driver({ faults: [{ kind: "hang", method: "NodeGetInfo", times: 1 }] });
    const registrar = await node.registrar();
    await driver.events.when("fault-applied");
    await node.restart();
    await registrar.registered();
  },
  "registers its drivers again after a restart": async (node) => {
    const { registrar } = await node.registered({ topology: TOPOLOGY, maxVolumes: 5 });
    await node.restart();
    await registrar.registered(2);
    await registrar.close();
    await node.deregistered();
  },
  "leaves on the node what went away while it was down": async (node) => {
    const { registrar } = await node.registered({ topology: TOPOLOGY });
    await node.whileDown(registrar.close);
    await node.settled();
  },
  "finds a driver with another volume limit after a restart": async (node) => {
    const { driver } = await node.registered({ maxVolumes: 5 });
    await node.whileDown(async () => {
      await driver.close();
      await node.driver({ maxVolumes: 6 });
    });
    await node.triedAgain();
  },
  "finds a driver with another node ID and topology after a restart": async (node) => {
    const { driver } = await node.registered({ topology: TOPOLOGY });
    await node.whileDown(async () => {
      await driver.close();
      await node.driver({ nodeId: "another ID", topology: { "x.csi/room": "1" } });
    });
    await node.triedAgain();
  },
};
