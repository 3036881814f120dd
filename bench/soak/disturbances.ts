import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sendVisitors } from "../hostile/visitors";
import { ROLES, type Role } from "./cast";
import type { SoakNode } from "./node";
import type { Kind, Step } from "./plan";

/** Where kubelet is busy or backs off, it does not ask soon; then what was planned for that moment happens without. */
const ASKED_WITHIN_MS = 5_000;

const seconds = (least: number, most: number, { amount }: Step) => (least + amount * (most - least)) * 1_000;
/** Clients that are no kubelet: none of them makes a call, because that would look like kubelet's. */
const STRANGERS = ["", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "\xff".repeat(300)].map(
  (text) => Buffer.from(text, "latin1"),
);
const isFirstHalf = ({ amount }: Step) => amount < 0.5;

/** What each kind of disturbance does. It resolves when it is over and all could be well again. */
const DISTURBANCES: { readonly [kind in Kind]: (node: SoakNode, step: Step) => Promise<void> } = {
  "kubelet-restarts": (node, step) => node.restartKubelet(seconds(0, 3, step)),

  "kubelet-dies-at-work": async (node, step) => {
    const { driver } = step;
    await node.kubelet.command({ command: "hang", seconds: 60 });
    const asked = node
      .candidates(driver)
      .map((one) => one.says([' to="asked"', ` driver="${driver}"`], one.log.all().length));
    await node.removeSockets(driver);
    await Promise.race([Promise.any(asked).catch(() => {}), delay(ASKED_WITHIN_MS)]);
    if (isFirstHalf(step)) await node.removeSockets(driver);
    await node.restartKubelet(seconds(0, 1, step), () => node.removeSockets(driver));
  },

  "socket-removed": (node, { driver }) => node.removeSockets(driver),

  "all-sockets-removed": (node) => node.removeSockets(),

  "directory-anew": async (node, step) => {
    await node.restartKubelet(seconds(0, 2, step), node.removePluginDirectory);
    while (!existsSync(node.pluginDir)) await delay(10); // kubelet makes it when its watcher starts
  },

  "driver-restarts": (node, step) =>
    node.driver(step.driver).restart(isFirstHalf(step) ? "kill" : "close", 0),

  "driver-away": (node, step) =>
    node.driver(step.driver).restart(isFirstHalf(step) ? "kill" : "close", seconds(1, 6, step)),

  "driver-hangs": async (node, step) => {
    const driver = node.driver(step.driver);
    // In the second half it is we who find it hanging, when it has just come back.
    if (isFirstHalf(step)) await node.removeSockets(step.driver);
    else await driver.restart("kill", 0);
    await driver.hang(seconds(1, 4, step));
  },

  "kubelet-refuses": async (node, step) => {
    const times = 1 + Math.floor(step.amount * 3);
    const text = "error updating CSINode object with CSI driver node info: the soak refuses";
    await node.kubelet.command({ command: "refuse", text, times });
    await node.removeSockets(step.driver);
  },

  "crowd-comes": async (node, { driver }) => {
    const [socket = ""] = (await node.visibleSockets()).filter((name) => name.startsWith(driver));
    const visit = { door: "registration socket", connections: 90, atOnce: 90, stayEvery: 2 } as const;
    const stayed = await sendVisitors({ ...visit, words: STRANGERS }, { path: join(node.pluginDir, socket) });
    node.afterSettling(() => {
      for (const one of stayed) one.destroy();
    });
    await node.removeSockets(driver);
  },

  "peer-comes": (node, { driver }) => node.startPeer(driver),

  "peer-stops": async (node, { driver }) => {
    await node.peers.get(driver)?.stop();
    node.peers.delete(driver);
  },

  "peer-killed": async (node, { driver }) => {
    await node.peers.get(driver)?.kill();
    node.peers.delete(driver);
  },

  "registrar-stops": async (node, step) => {
    await node.registrars.get(step.registrar)?.stop();
    await delay(seconds(0, 1, step));
    await node.startRole(roleNamed(step.registrar));
  },

  "registrar-killed": async (node, step) => {
    await node.registrars.get(step.registrar)?.kill();
    await delay(seconds(0, 1, step));
    await node.startRole(roleNamed(step.registrar));
  },

  "registrar-replaced": async (node, step) => {
    const former = node.registrars.get(step.registrar);
    await node.startRole(roleNamed(step.registrar));
    await delay(seconds(0, 2, step));
    await former?.stop();
  },
};

/** Lets a step happen. */
export async function disturb(node: SoakNode, step: Step): Promise<void> {
  await delay(step.waitMs);
  await DISTURBANCES[step.kind](node, step);
}

function roleNamed(name: string): Role {
  const role = ROLES.find((one) => one.name === name);
  if (role === undefined) throw new Error(`there is no role ${name}`);
  return role;
}
