import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { resolveNodeReadinessOptions } from "../../src/node-readiness/options";
import { PACE } from "../../src/node-readiness/pace";
import { runNodeReadiness } from "../../src/node-readiness/run-node-readiness";
import { type ControlPlane, startControlPlane } from "../../test/cluster/support/control-plane";
import { createRegistrations } from "../../test/node-readiness/support/controlled-registrations";
import { createTempFolder } from "../../test/support/temp-folder";
import type { Bench, Measurement } from "../bench";
import { createKubeletCalls, type KubeletCalls } from "./kubelet-calls";
import { readServerCost, type ServerCost } from "./server-cost";

const DRIVER = "disk.csi.example.com";
const TAINT = { key: `${DRIVER}/agent-not-ready`, effect: "NoSchedule" };

/** What registrations cost one real API server; printed as a line of JSON for each phase. */
export const nodes: Measurement = {
  command: undefined,
  kubelets: () => [],
  run: async ({ only, say }) => {
    for (const count of only === "" ? [10, 100, 1_000] : [Number(only)]) {
      await using folder = await createTempFolder();
      await using controlPlane = await startControlPlane({ folder: folder.path });
      await measure(controlPlane, count, say);
    }
    return "";
  },
};

async function measure(controlPlane: ControlPlane, count: number, say: Bench["say"]): Promise<void> {
  const phase = measurePhase(controlPlane, count, say);
  const ca = readFileSync(controlPlane.caFile, "utf8");
  const token = controlPlane.adminToken;
  const names = Array.from({ length: count }, (_, index) => `node-${index}`);
  const kubelets = names.map((name) => createKubeletCalls({ url: controlPlane.url, ca, token }, name));
  await Promise.all(kubelets.map((kubelet) => kubelet.join()));

  await phase("all register at once", () => all(kubelets, DRIVER));
  await phase("all deregister at once", () => all(kubelets, undefined));
  await all(kubelets, DRIVER);

  const access = {
    server: controlPlane.url,
    authority: { kind: "value", value: ca },
    token: { kind: "value", value: token },
  } as const;
  const registrations = createRegistrations();
  let crowd: readonly ReturnType<typeof runNodeReadiness>[] = [];
  await phase("registrars with a startup taint start", async () => {
    crowd = names.map((nodeName) =>
      runNodeReadiness(
        registrations,
        resolveNodeReadinessOptions({ nodeName, access, startupTaints: ["{driver}/agent-not-ready"] }),
        {
          log: silentLogger,
          pace: { csiNode: { ...PACE.csiNode, lookEveryMs: LOOK_EVERY_MS } },
        },
      ),
    );
    while ((await readServerCost(controlPlane)).watches < count) await delay(200);
    return [];
  });
  // As a node group's manager puts it on: with kubectl, a node after the other, and before kubelet has registered.
  await controlPlane.kubectl("taint", "nodes", "--all", `${TAINT.key}=:${TAINT.effect}`);
  await phase("all taints are due at once", async () => {
    registrations.set("registered", DRIVER);
    const isGone = () => crowd.every((one) => one.status().taints.every(({ removals }) => removals > 0));
    while (!isGone()) await delay(20);
    return crowd.flatMap((one) => one.status().taints.map(({ lastRemovalMs = 0 }) => lastRemovalMs));
  });
  await Promise.all(crowd.map((one) => one.close()));
  for (const kubelet of kubelets) kubelet[Symbol.dispose]();
}

const all = (kubelets: readonly KubeletCalls[], driver: string | undefined) =>
  Promise.all(kubelets.map((kubelet) => kubelet.setDriver(driver)));

/** Prints what a phase took, in all and for each node. */
const measurePhase =
  (controlPlane: ControlPlane, nodes: number, say: Bench["say"]) =>
  async (name: string, run: () => Promise<readonly number[]>): Promise<void> => {
    const before = await readServerCost(controlPlane);
    const begin = performance.now();
    const times = (await run()).toSorted((one, other) => one - other);
    const seconds = (performance.now() - begin) / 1000;
    const after = await readServerCost(controlPlane);
    const each = (field: keyof ServerCost) => Number(((after[field] - before[field]) / nodes).toFixed(2));
    const line = {
      nodes,
      phase: name,
      seconds: Number(seconds.toFixed(2)),
      requestsEach: each("requests"),
      writesEach: each("writes"),
      cpuMsEach: each("cpuMs"),
      medianMs: Math.round(times[Math.floor(times.length / 2)] ?? 0),
      worstMs: Math.round(times.at(-1) ?? 0),
    };
    say(JSON.stringify(line));
  };
