import { rename, rm } from "node:fs/promises";
import { createRandom } from "../../../support/random";
import type { Scenario, ScriptedNode, ScriptedRegistrar } from "../scripted-node";

const STEPS = 4;
/** Of two sockets of one driver kubelet would register the one that it happens to try first. */
const DRIVER_OF = { "a.sock": "x.csi", "b.sock": "y.csi" } as const;
const SOCKETS = ["a.sock", "b.sock"] as const;
const DRIVERS = ["x.csi", "y.csi"] as const;
const VERSIONS = [["1.0.0"], ["1.0.0"], ["1.1.0"], ["2.0.0"], []];
const NODE_IDS = ["one", "another", ""];
const LIMITS = [0, 5, 6];
const ENDINGS = ["closes", "dies", "is renamed"] as const;

type Driver = Awaited<ReturnType<ScriptedNode["driver"]>>;

/** A scenario for each seed: two sockets, two drivers and kubelet, which do something one after the other. */
export function randomScenarios(count: number): readonly Scenario[] {
  return Array.from({ length: count }, (_, seed) => ({
    name: `follows random actions of seed ${seed}`,
    isRandom: true,
    script: (node) => playRandom(node, createRandom(seed)),
  }));
}

async function playRandom(node: ScriptedNode, chance: () => number): Promise<void> {
  const pick = <One>(all: readonly One[]) => all[Math.floor(chance() * all.length)] as One;
  const drivers = new Map<string, Driver>();
  const registrars = new Map<string, ScriptedRegistrar>();

  const answers = () => ({ nodeId: pick(NODE_IDS), maxVolumes: pick(LIMITS) });
  const changeDriver = async () => {
    const name = pick(DRIVERS);
    const [running, next] = [drivers.get(name), answers()];
    if (running === undefined) {
      drivers.set(name, await node.driver({ name, ...next }));
    } else if (chance() < 0.5) {
      drivers.delete(name);
      await running.close();
    } else running.setAnswers(next);
  };
  const changeSocket = async () => {
    const [name, other, ending] = [pick(SOCKETS), pick(SOCKETS), pick(ENDINGS)];
    const info = { name: DRIVER_OF[name], supportedVersions: pick(VERSIONS) };
    const running = registrars.get(name);
    registrars.delete(name);
    if (running === undefined || chance() < 0.4) {
      registrars.set(name, await node.registrar({ name, info }));
    } else if (ending === "closes") await running.close();
    else if (ending === "dies") await running.crash();
    else if (name !== other) {
      await rm(node.at(other), { force: true });
      await rename(node.at(name), node.at(other));
      registrars.set(other, running);
    }
  };

  await changeDriver();
  for (let step = 0; step < STEPS; step++) {
    const kind = chance();
    if (kind < 0.3) await changeDriver();
    else if (kind < 0.9) await changeSocket();
    else await node.restart();
    await node.quiet();
  }
}
