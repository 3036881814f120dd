import { lstatSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { nodeIds } from "../../test/kubelet/support/kubelet";
import { DRIVERS } from "./cast";
import type { SoakNode } from "./node";

/** How the node is at one moment. */
interface Look {
  /** What is not as it should be. */
  readonly problems: readonly string[];
  /** Another one when anything was registered or published in the meantime. */
  readonly fingerprint: string;
}

/** A node without a problem for so long has settled: kubelet's loop runs each second. */
const FOR_GOOD_MS = 2_500;
const LOOK_EVERY_MS = 100;

/**
 * Resolves with the milliseconds until all was well for good: each driver registered at kubelet, in CSINode and by
 * the word of exactly one registrar, one registration socket each, no socket of others touched. Rejects, naming what is
 * not well, when that took more than `patienceMs`; at once where waiting cannot help.
 */
export async function settled(node: SoakNode, patienceMs: number): Promise<number> {
  const startMs = performance.now();
  let former: Look | undefined;
  let sinceMs: number | undefined;
  for (;;) {
    const look = await lookAt(node);
    const nowMs = performance.now();
    if (look.problems.length > 0) sinceMs = undefined;
    else if (former === undefined) sinceMs = startMs;
    else if (sinceMs === undefined || look.fingerprint !== former.fingerprint) sinceMs = nowMs;
    former = look;
    if (sinceMs !== undefined && nowMs - sinceMs >= FOR_GOOD_MS) return sinceMs - startMs;
    if (nowMs - startMs > patienceMs) {
      const what = look.problems.join("; ") || "it was registered or published again and again";
      throw new Error(`not settled after ${patienceMs / 1_000} s: ${what}`);
    }
    await delay(LOOK_EVERY_MS);
  }
}

async function lookAt(node: SoakNode): Promise<Look> {
  const ended = node.everyone.filter(({ end }) => end === "unasked").map(({ name }) => name);
  if (ended.length > 0) throw new Error(`ended by itself: ${ended.join(", ")}`);
  const sockets = await node.visibleSockets();
  const inodes = sockets.map((name) => {
    const stats = lstatSync(join(node.pluginDir, name), { throwIfNoEntry: false });
    return `${name}:${stats?.ino}:${stats?.mtimeMs}`;
  });
  const registrations = DRIVERS.map((driver) => registrationOf(node, driver));
  const problems = [
    ...registrations.flatMap((one) => one.problems),
    ...DRIVERS.flatMap((driver) => socketProblem(driver, sockets)),
    ...sockets
      .filter((name) => !DRIVERS.some((driver) => isOf(driver, name)))
      .map((name) => `${name} belongs to no driver`),
  ];
  // Only if there is no other problem: these requests cost the registrars work.
  if (problems.length === 0)
    problems.push(...(await Promise.all(DRIVERS.map((driver) => holderProblem(node, driver)))).flat());
  const events = registrations.map(({ event }) => event);
  return { problems, fingerprint: [node.kubelets.length, ...events, ...inodes].join() };
}

/** Kubelet's own word: its handler's last event about the driver, and the objects that came of it. */
function registrationOf({ kubelet, driver: driverOf }: SoakNode, driver: string) {
  const events = kubelet.events.all();
  const event = events.findLastIndex(
    (one) => (one.event === "register" || one.event === "deregister") && one.plugin === driver,
  );
  const last = events[event];
  const { nodeId } = driverOf(driver);
  const { csiNode, node } = kubelet.objects();
  const inCsiNode = csiNode?.spec.drivers.find(({ name }) => name === driver)?.nodeID;
  const inNode = nodeIds(node)[driver];
  const problems: string[] = [];
  if (last?.event !== "register") problems.push(`kubelet has not registered ${driver}`);
  else if (last.error !== null) problems.push(`kubelet refused ${driver}: ${last.error}`);
  else if (inCsiNode !== nodeId) problems.push(`CSINode has ${inCsiNode} for ${driver}, not ${nodeId}`);
  else if (inNode !== nodeId) problems.push(`the Node has ${inNode} for ${driver}, not ${nodeId}`);
  return { event, problems };
}

/**
 * An alias stands between name and tail where kubelet backed off from the usual name; see
 * src/registrar/model/socket-name.ts.
 */
function isOf(driver: string, socket: string): boolean {
  return socket.startsWith(driver) && /^(-_[0-9a-z]{3})?-reg\.sock$/.test(socket.slice(driver.length));
}

function socketProblem(driver: string, sockets: readonly string[]): readonly string[] {
  const names = sockets.filter((name) => isOf(driver, name));
  return names.length === 1 ? [] : [`${driver} has ${names.length} registration sockets`];
}

/** The registrars' own word: exactly one of those that may says that it holds the registration. */
async function holderProblem(node: SoakNode, driver: string): Promise<readonly string[]> {
  const answers = await Promise.all(
    node.candidates(driver).map(async (one) => {
      const { body } = await one.get("/metrics");
      return { name: one.name, isHolder: body.includes(`registrar_registered{driver_name="${driver}"} 1`) };
    }),
  );
  const holders = answers.filter(({ isHolder }) => isHolder).map(({ name }) => name);
  if (holders.length === 1) return [];
  return [`registered ${driver} by its own word: ${holders.join(", ") || "no registrar"}`];
}
