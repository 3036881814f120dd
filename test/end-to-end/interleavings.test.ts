import { symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { protos } from "../../src/grpc/protos";
import { callUnary, createUnixClient } from "../../src/grpc/unary";
import type { SimulatedKubelet } from "../../src/testing";
import { eventually } from "../support/eventually";
import { createScript, type Script } from "./support/interleaving";
import { onNode, type TestNode } from "./support/node";
import { breachesOfOwnership, publicationsOf } from "./support/ownership";
import type { CliProcess } from "./support/process";

/**
 * Several registrars of one driver start and end at random. Each seed is a script that can be replayed:
 * INTERLEAVING_SEEDS=17 runs that one, INTERLEAVING_SEEDS=1-200 many.
 */
const [from = 1, to = from] = (process.env.INTERLEAVING_SEEDS ?? "1-5").split("-").map(Number);
const seeds = Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Longer than the pause between two looks that a registrar takes at its socket without cause. */
const QUIET_MS = 5_500;

interface Actor {
  readonly cli: CliProcess;
  /** The kubelet registration path that only this one tells. */
  readonly endpoint: string;
}

test.concurrent.each(seeds)(
  "whatever the order of their starts and ends, one registrar holds the socket and nobody fights: seed %i",
  onNode(async (node, seed) => {
    const script = createScript(seed);
    await node.driver();
    // A kubelet that does not stay away long from a socket that it found dead.
    const timings = { dialMs: 200, backoffInitialMs: 20, backoffMaxMs: 50 };
    const kubelet = await node.kubelet({ timings });
    const { all, living } = await play(script, node);
    const publications = () => all.flatMap(({ cli }) => publicationsOf(cli)).length;
    try {
      const owner = await settled(living, kubelet);
      const before = publications();
      await delay(QUIET_MS); // nothing is to happen
      expect(publications()).toBe(before);
      expect(await settled(living, kubelet)).toBe(owner);

      const visible = node.files().filter((name) => !name.startsWith("."));
      const answering = await Promise.all(visible.map((name) => endpointOf(join(node.pluginDir, name))));
      expect(answering.filter((endpoint) => endpoint !== undefined)).toEqual(owner ? [owner.endpoint] : []);

      expect(breachesOfOwnership(all.map(({ cli }) => cli))).toEqual([]);
      const ends = script.steps.filter(({ action }) => action !== "start").length;
      expect(publications()).toBeLessThanOrEqual(all.length + ends * (script.slots - 1));
      for (const { cli } of all) expect(cli.lines().filter(({ severity }) => severity === "E")).toEqual([]);
    } catch (error) {
      const logs = all.map(({ cli }) => cli.stderr).join("\n");
      throw new Error(`seed ${seed}: ${JSON.stringify(script)}\n${String(error)}\n${logs}`, { cause: error });
    }
  }),
  90_000,
);

/** Carries the script out; answers all that were ever started, and those that nobody ended. */
async function play({ slots, steps }: Script, node: TestNode) {
  const all: Actor[] = [];
  const inSlot: (Actor | undefined)[] = Array.from({ length: slots });
  for (const { action, slot, waitMs } of steps) {
    await delay(waitMs);
    if (action === "start") {
      const endpoint = join(dirname(node.csiAddress), `csi-${all.length}.sock`);
      symlinkSync(node.csiAddress, endpoint);
      const actor = { cli: node.registrar(`--kubelet-registration-path=${endpoint}`), endpoint };
      all.push(actor);
      inSlot[slot] = actor;
    } else {
      inSlot[slot]?.cli.kill(action);
      inSlot[slot] = undefined;
    }
  }
  const living = inSlot.filter((actor) => actor !== undefined);
  for (const { cli } of all) if (!living.some((actor) => actor.cli === cli)) await cli.exit();
  return { all, living };
}

/** Resolves with the one that is registered, at kubelet too, when all others stand by; nobody where nobody lives. */
async function settled(living: readonly Actor[], kubelet: SimulatedKubelet): Promise<Actor | undefined> {
  const latest = () => kubelet.events.history().findLast(({ kind }) => /^(?:de)?registered$/.test(kind));
  const isKubelets = ({ endpoint }: Actor) => {
    const event = latest();
    return event?.kind === "registered" && event.endpoint === endpoint;
  };
  const stateOf = ({ cli }: Actor) => cli.lines("Registration state changed").at(-1)?.fields.to;
  return eventually(() => {
    const registered = living.filter((actor) => stateOf(actor) === "registered" && isKubelets(actor));
    const standingBy = living.filter((actor) => stateOf(actor) === "standby");
    expect([registered.length, standingBy.length]).toEqual(
      living.length === 0 ? [0, 0] : [1, living.length - 1],
    );
    return registered[0];
  });
}

/** What the registrar behind a socket tells kubelet; undefined where nobody answers. */
async function endpointOf(socketPath: string): Promise<string | undefined> {
  const client = createUnixClient(socketPath);
  const answer = callUnary(client, protos.registration.GetInfo, {}, { timeoutMs: 30_000 });
  return answer
    .then(
      ({ endpoint }) => endpoint,
      () => undefined,
    )
    .finally(() => client.close());
}
