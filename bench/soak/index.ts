import { readdir } from "node:fs/promises";
import { messageOf } from "../../src/base/errors";
import { newestVersion } from "../../test/kubelet/support/versions";
import type { Bench, Measurement } from "../bench";
import { DRIVERS, ROLES, type Role } from "./cast";
import { disturb } from "./disturbances";
import { keepLogs, unexpectedLines } from "./logs";
import { type SoakNode, startSoakNode } from "./node";
import { createPlan, type Step, stepText } from "./plan";
import type { Holdings, RegistrarProcess } from "./registrar-process";
import { type Disturbance, disturbanceTable, lifeTable } from "./report";
import { settled } from "./settling";
import { growths, type Life } from "./statistics";
import { startTraffic } from "./traffic";

interface Options extends Pick<Bench, "seed" | "minutes" | "keepsLogs" | "say" | "kubelet"> {
  /** The program under soak, and the words in front of its arguments. */
  readonly command: readonly string[];
}

/** Registrars on a node with kubelet's real code, disturbed at random. Rejects at the first breach. */
export const soak: Measurement = {
  command: "npm run soak",
  kubelets: (chosen) => [...new Set([chosen, newestVersion])],
  run: async ({ seed, minutes, kubelet, keepsLogs, plain, say }) => {
    if (!(minutes > 0) || !Number.isInteger(seed)) throw new Error("--minutes and --seed are numbers");
    say(`seed ${seed}`);
    return await soakNode({ seed, minutes, kubelet, keepsLogs, say, command: plain.program });
  },
};

/** Longer than anything takes: kubelet dials a dead socket for 10 s, and doubles its waits after each failure. */
const PATIENCE_MS = 30_000;

/** Disturbs a node for so long, and checks after each disturbance whether all recovered. */
async function soakNode({ seed, minutes, kubelet, command, keepsLogs, say }: Options): Promise<string> {
  await using node = await startSoakNode(kubelet, command);
  const traffic = startTraffic(node);
  const steady = ROLES.filter(({ temper }) => temper === "steady").map((role) => observe(node, role));
  const disturbances: Disturbance[] = [];
  const breaches: string[] = [];
  const endMs = performance.now() + minutes * 60_000;
  let what = "the start";
  try {
    await settled(node, PATIENCE_MS);
    for (const one of steady) await one.look();
    /** Those that the next rest will be from. */
    let atOnce: Step[] = [];
    for (const step of createPlan(seed)) {
      if (performance.now() > endMs) break;
      what = stepText(step);
      await disturb(node, step);
      atOnce.push(step);
      if (step.inHaste) continue;
      const ms = await settled(node, PATIENCE_MS);
      node.undoAll();
      for (const one of steady) await one.look();
      disturbances.push(
        ...atOnce.map(({ kind }) => ({ kind, settledAfterMs: atOnce.length > 1 ? undefined : ms })),
      );
      say(
        `${new Date().toISOString().slice(11, 23)} ${atOnce.map(stepText).join(", ")}: ${(ms / 1_000).toFixed(1)} s`,
      );
      atOnce = [];
      refuse([...traffic.problems, ...node.everyone.flatMap(complaintsOf)]);
    }
    what = "the end";
    await settled(node, PATIENCE_MS);
    await end(node);
  } catch (error) {
    breaches.push(`${what}: ${messageOf(error)}`);
  }
  await traffic.close();
  const lives = steady.map(({ life }) => life);
  breaches.push(...lives.flatMap(growths));
  if (keepsLogs || breaches.length > 0) say(`logs: ${await keepLogs(node, lives)}`);
  const summary = [
    `Kubelet ${kubelet}, ${minutes} minutes, seed ${seed}, ${disturbances.length} disturbances, ${node.everyone.length}`,
    `registrars started, ${traffic.requests} HTTP requests meanwhile.`,
  ].join("\n");
  const figures = [summary, disturbanceTable(disturbances), lifeTable(lives)].join("\n\n");
  if (breaches.length === 0) return figures;
  const replay = `Breach, replay with --seed ${seed} --minutes ${minutes} --kubelet ${kubelet}`;
  throw new Error([figures, replay, ...breaches].join("\n"));
}

function complaintsOf({ name, log }: RegistrarProcess): readonly string[] {
  return unexpectedLines(log.all()).map((line) => `${name} says: ${line}`);
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join("\n"));
}

/** Records what a registrar holds. */
function observe(node: SoakNode, { name, drivers }: Role) {
  const holdings: Holdings[] = [];
  return {
    life: { name, drivers: drivers.length, holdings } satisfies Life,
    /** When all is at rest. A peer means a connection more, or some less: not measured. */
    look: async () => {
      const registrar = node.registrars.get(name);
      if (registrar === undefined) return;
      if (drivers.every((driver) => !node.peers.has(driver))) holdings.push(await registrar.measure());
    },
  };
}

/** Everybody leaves, and leaves nothing behind. */
async function end(node: SoakNode): Promise<void> {
  const healths = await Promise.all(
    [...node.registrars.values()].map(async (one) => ({ name: one.name, ...(await one.get("/healthz")) })),
  );
  refuse(
    healths.filter(({ status }) => status !== 200).map(({ name, body }) => `${name}: /healthz says ${body}`),
  );
  for (const one of node.everyone.filter((registrar) => registrar.end === "none")) await one.stop();
  await Promise.all(DRIVERS.map((driver) => node.kubelet.deregistered(driver)));
  const left = await readdir(node.pluginDir);
  refuse([...node.everyone.flatMap(complaintsOf), ...left.map((name) => `${name} was left behind`)]);
}
