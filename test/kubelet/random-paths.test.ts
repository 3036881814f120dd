import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type CliProcess, startCli } from "../end-to-end/support/process";
import { eventually } from "../support/eventually";
import { createRandom } from "../support/random";
import { type CsiDriver, startCsiDriver } from "./support/csi-driver";
import { startNode } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

/**
 * The explorer's faults (test/exploration) in a random order, played with kubelet's code: `RANDOM_PATHS=30` plays so many with each
 * kubelet of KUBELET_VERSIONS, by default with the newer two of those that are tested.
 */
const PATHS = Number(process.env.RANDOM_PATHS ?? 2);
/** A failure names its seed, which replays it: `RANDOM_SEED=7`. */
const { RANDOM_SEED } = process.env;
const SEEDS = RANDOM_SEED
  ? [Number(RANDOM_SEED)]
  : Array.from({ length: PATHS }, () => Math.floor(Math.random() * 1e6));
const STEPS = 7;
/** Longer than kubelet's loop takes for a step, and shorter. */
const LONGEST_PAUSE_MS = 1_500;
/** Kubelet's longest backoff is 2 min 2 s. */
const SETTLES_WITHIN_MS = 150_000;
/** Kubelet's loop has run three times by then. */
const QUIET_MS = 3_500;
const name = "disk.csi.example.com";

type Child = Pick<CsiDriver, "exited" | "close"> & { readonly signal: CliProcess["kill"] };

/** A process that may be killed and started again; `up` while it runs, frozen or not. */
function createActor(begin: () => Promise<Child>) {
  let child: Child | undefined;
  let isFrozen = false;
  return {
    isUp: () => child !== undefined,
    isFrozen: () => isFrozen,
    start: async () => {
      if (child !== undefined) return;
      const started = await begin();
      child = started;
      const forget = () => {
        if (child === started) child = undefined;
      };
      started.exited.then(forget, forget);
    },
    signal: async (signal: "SIGKILL" | "SIGSTOP" | "SIGCONT") => {
      const one = child;
      isFrozen = signal === "SIGSTOP";
      one?.signal(signal);
      if (signal === "SIGKILL") await one?.exited;
    },
    close: async () => void (await child?.close()),
  };
}

const versions = process.env.KUBELET_VERSIONS ? kubeletVersions() : kubeletVersions().slice(-2);

describe.each(versions)("kubelet %s", (version) => {
  test.concurrent.each(SEEDS)("after random faults the driver is registered, seed %d", async (seed) => {
    const chance = createRandom(seed);
    const pick = <One>(all: readonly One[]) => all[Math.floor(chance() * all.length)] as One;
    await using node = await startNode(version);
    const paths = await node.addDriver(name);
    const policy = pick(["exit", "retry"]);
    const registrar = createActor(async () => {
      const cli = startCli([...paths.args, `--on-registration-failure=${policy}`]);
      return { signal: cli.kill, exited: cli.exit(), close: cli[Symbol.asyncDispose] };
    });
    const driver = createActor(() => startCsiDriver({ endpoint: paths.kubeletRegistrationPath, name }));
    let { kubelet } = node;
    const removeSockets = async () => {
      for (const file of node.visibleFiles()) await rm(join(node.pluginDir, file), { force: true }); // It may have moved.
    };
    const ofRegistrar = () => {
      if (!registrar.isUp()) return { "registrar starts": registrar.start };
      const killed = { "registrar is killed": () => registrar.signal("SIGKILL") };
      return registrar.isFrozen()
        ? { ...killed, "registrar goes on": () => registrar.signal("SIGCONT") }
        : {
            ...killed,
            "registrar is frozen": () => registrar.signal("SIGSTOP"),
            "its socket is removed": removeSockets,
          };
    };
    const faults = (): Readonly<Record<string, () => Promise<unknown>>> => ({
      ...ofRegistrar(),
      ...(driver.isUp()
        ? { "driver goes": () => driver.signal("SIGKILL") }
        : { "driver comes": driver.start }),
      "kubelet restarts": async () => {
        kubelet = await kubelet.restart();
      },
    });
    const story = [policy];
    try {
      await Promise.all([registrar.start(), driver.start()]);
      for (let step = 0; step < STEPS; step++) {
        const pauseMs = Math.floor(chance() * LONGEST_PAUSE_MS);
        await delay(pauseMs);
        const [fault, happen] = pick(Object.entries(faults()));
        story.push(`${pauseMs} ms, ${fault}`);
        await happen();
      }
      await registrar.signal("SIGCONT");
      const outcomes = () =>
        kubelet.events.all().flatMap((event) => ("plugin" in event && event.plugin === name ? [event] : []));
      const look = async () => {
        await Promise.all([registrar.start(), driver.start()]); // As kubelet restarts their containers.
        const last = outcomes().findLast(({ event }) => event !== "validate");
        expect(last).toMatchObject({ event: "register", error: null });
        expect(node.visibleFiles()).toHaveLength(1);
        return outcomes().length;
      };
      const isQuiet = async () => {
        const before = await look();
        await delay(QUIET_MS);
        expect(await look()).toBe(before);
      };
      await eventually(isQuiet, { what: `${seed}: ${story.join("; ")}`, limitMs: SETTLES_WITHIN_MS });
    } finally {
      await Promise.all([registrar.close(), driver.close(), kubelet.close()]);
    }
  });
});
