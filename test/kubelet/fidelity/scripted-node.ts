import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../../../src/base/errors";
import type { KubeletBehaviour } from "../../../src/kubelet-rules/versions";
import { type CsiDriverOptions, startCsiDriver } from "../../../src/testing";
import { type DevicePluginAnswers, startFakeDevicePlugin } from "../../simulator/fake-device-plugin";
import { type FakeRegistrarOptions, startFakeRegistrar } from "../../simulator/fake-registrar";
import type { History } from "../../support/history";
import type { RunningKubelet } from "./kubelets";
import { comparable, driverStep, isRunning, kubeletStep, objectStep, registrarStep, type Step } from "./step";

export interface Scenario {
  readonly name: string;
  /** A call that is left without an answer, once, until kubelet gives it up. */
  readonly hangs?: "GetInfo" | "NotifyRegistrationStatus";
  readonly script: Script;
  /** What kubelet tries by itself is told once, however often it did. @default false */
  readonly isRandom?: boolean;
  /** With which kubelets it is played. @default all */
  readonly applies?: (behaviour: KubeletBehaviour) => boolean;
}

/** Acts on the node, and waits for the last thing that kubelet does about it. */
type Script = (node: ScriptedNode) => Promise<void>;

/** Scenarios by what kubelet does, as the rest of a sentence that "kubelet" begins. */
export type Scripts = Readonly<Record<string, Script | Omit<Scenario, "name">>>;

/** A node with a running kubelet, real or simulated. What a script has started is ended after it. */
export type ScriptedNode = ReturnType<typeof createScriptedNode>;
export type ScriptedRegistrar = Awaited<ReturnType<ScriptedNode["registrar"]>>;

type RegistrarOptions = Partial<Omit<FakeRegistrarOptions, "socketPath">> & { readonly name?: string };

interface ScriptedNodeOptions {
  readonly folder: string;
  readonly pluginDir: string;
  readonly kubelet: RunningKubelet;
  readonly steps: History<Step>;
  readonly onStep: (step: Step) => void;
}

/** Kubelet's loop has run once by then. */
const ROUND_MS = 1_200;

/** When kubelet will have tried again all that fails, by our clock. */
function triedAgainAtMs(steps: readonly Step[]): number {
  const last = new Map(steps.filter(({ atMs }) => atMs !== undefined).map((step) => [step.about, step]));
  const ends = [...last.values()].map(({ toldAtMs = 0, waitMs = 0 }) => (waitMs > 0 ? toldAtMs + waitMs : 0));
  return Math.max(0, ...ends) + 2 * ROUND_MS;
}

export function createScriptedNode(options: ScriptedNodeOptions) {
  const { folder, pluginDir, kubelet, steps, onStep } = options;
  const started: { readonly close: () => Promise<void> }[] = [];
  let markers = 0;
  const at = (...names: readonly string[]) => join(pluginDir, ...names);
  const elsewhere = (...names: readonly string[]) => join(folder, ...names);

  /** Resolves when the nth step that begins like this was taken from a position on, with the position after it. */
  async function until(beginning: Step, nth = 1, from = 0): Promise<number> {
    const { about, what } = comparable(beginning, folder);
    let count = 0;
    const isIt = (step: Step) => step.about === about && step.what.startsWith(what) && ++count === nth;
    const step = await steps.waitFor(isIt, from).catch((cause: unknown) => {
      throw new Error(`"${about}" has not "${what}" ${nth} times: ${messageOf(cause)}`, { cause });
    });
    return steps.all().indexOf(step) + 1;
  }

  const driver = async ({ name = "x.csi", ...others }: Partial<CsiDriverOptions> = {}) => {
    const csiAddress = elsewhere(name);
    const running = await startCsiDriver({
      csiAddress,
      name,
      nodeId: `node of ${name}`,
      waitTimeoutMs: 10 * 60_000,
      ...others,
    });
    started.push(running);
    running.events.subscribe((event) => {
      if (event.kind === "called") onStep(driverStep.hears(csiAddress, event));
    });
    return running;
  };

  /** Something that listens where a driver should, and tells each connection. */
  const listener = async (name: string, onConnection: (connection: Socket) => void) => {
    const path = elsewhere(name);
    const connections = new Set<Socket>();
    const server = createServer((connection) => {
      onStep(driverStep.isDialled(path));
      connections.add(connection);
      onConnection(connection.on("error", () => {}));
    });
    // Kubelet's errors have the name that a socket was bound to.
    await once(server.listen(path), "listening");
    const close = async () => {
      server.close();
      for (const connection of connections) connection.destroy();
    };
    started.push({ close });
    return path;
  };

  /** A device plugin, or what happens in place of an answer. */
  const devicePlugin = async (name: string, answer: DevicePluginAnswers = {}) => {
    const path = elsewhere(name);
    const plugin = await startFakeDevicePlugin(path, answer, (request) =>
      onStep(driverStep.hears(path, request)),
    );
    started.push(plugin);
    return path;
  };

  /** Publishes a registration socket, in place of one that is there. `info` is what differs from x.csi. */
  const registrar = async ({ name = "a.sock", info, ...others }: RegistrarOptions = {}) => {
    const path = at(name);
    const since = steps.all().length;
    const endpoint = elsewhere(info?.name ?? "x.csi");
    const running = await startFakeRegistrar({
      socketPath: path,
      info: { endpoint, ...info },
      ...others,
    });
    started.push(running);
    running.events.subscribe((event) => {
      if (event.kind === "left") onStep(registrarStep.left(path));
      else if (event.kind === "notified") {
        onStep(event.registered ? registrarStep.registered(path) : registrarStep.refused(path, event.error));
      } else onStep(registrarStep.asked(path, event));
    });
    return {
      ...running,
      dialled: () => until(kubeletStep.starts(path, "register"), 1, since),
      registered: async (nth = 1) => {
        const told = await until(registrarStep.registered(path), nth, since);
        await until(registrarStep.left(path), 1, told);
      },
      failed: (nth = 1) => until(kubeletStep.failsSomehow(path), nth, since),
      /** Resolves with whether kubelet registered it, once it has decided. */
      decided: async (): Promise<boolean> => {
        const isDecision = ({ about, what }: Step) =>
          [registrarStep.registered(path), kubeletStep.failsSomehow(path)]
            .map((step) => comparable(step, folder))
            .some((step) => about === step.about && what.startsWith(step.what));
        const { about } = await steps.waitFor(isDecision, since);
        const isRegistered = about === comparable(registrarStep.registered(path), folder).about;
        if (isRegistered) await until(registrarStep.left(path), 1, since);
        return isRegistered;
      },
    };
  };

  /** A registrar that kubelet registers, so many times. */
  const accepted = async (options?: RegistrarOptions, times?: number) => {
    const one = await registrar(options);
    await one.registered(times);
    return one;
  };

  const deregistered = async (driverName = "x.csi", socketName = "a.sock") => {
    await until(objectStep.node(driverName, undefined));
    // Kubelet logs that it has started this after it did, which may be when it is done.
    await until(kubeletStep.starts(at(socketName), "deregister"));
  };

  async function settled(): Promise<void> {
    const name = `marker-${++markers}`;
    await driver({ name });
    const marker = await accepted({ name: `${name}.sock`, info: { name } });
    await marker.close();
    await deregistered(name, `${name}.sock`);
  }

  /** Resolves when no try runs: one of a dead socket takes ten seconds. */
  async function idle(): Promise<void> {
    const sockets = await readdir(pluginDir);
    const isIdle = () =>
      sockets.every((name) => !isRunning(comparable(kubeletStep.sees(at(name)), folder).about, steps.all()));
    if (!isIdle()) await steps.waitFor(isIdle, steps.all().length);
  }

  async function whileDown<Result>(act: () => Promise<Result>): Promise<Result> {
    const results: Result[] = [];
    await kubelet.restart(async () => void results.push(await act()));
    return results[0] as Result;
  }

  return {
    at,
    elsewhere,
    driver,
    listener,
    devicePlugin,
    registrar,
    /** Starts both, and resolves when kubelet has registered them. */
    registered: async (options: Partial<CsiDriverOptions> = {}) => ({
      driver: await driver(options),
      registrar: await accepted(),
    }),
    accepted,
    /** A registrar that kubelet fails to register, so many times. */
    refused: async (options?: RegistrarOptions, times?: number) => {
      const one = await registrar(options);
      await one.failed(times);
      return one;
    },
    /** The same of several, all of them in kubelet's first look. */
    allRefused: async (all: readonly RegistrarOptions[]) => {
      const registrars = await whileDown(() =>
        Promise.all(
          all.map(({ info, ...rest }, index) => {
            const name = `n${index}.csi`;
            return registrar({ name, info: { name, ...info }, ...rest });
          }),
        ),
      );
      await Promise.all(registrars.map((one) => one.failed()));
    },
    refuse: kubelet.refuse,
    restart: () => whileDown(async () => {}),
    /** Acts in between. Kubelet deals with all that it leaves in its first round. */
    whileDown,
    failed: (socketName: string) => until(kubeletStep.failsSomehow(at(socketName))),
    /** Resolves when kubelet has seen that the socket is gone. */
    missed: (socketName: string) => until(kubeletStep.misses(at(socketName))),
    deregistered,
    /** Resolves when kubelet has dealt with all that happened until now: another driver came and went. */
    settled,
    /**
     * Resolves when a kubelet that tries again by itself has done so. Its wait of 500 ms may end with the second round of
     * `settled`; two rounds later the retry is over.
     */
    triedAgain: async () => {
      await settled();
      await settled();
    },
    /** Resolves when kubelet has dealt with all that happened, and has tried again what fails. */
    quiet: async () => {
      await settled();
      await idle();
      await delay(Math.max(0, triedAgainAtMs(steps.all()) - Date.now()));
      await idle();
    },
    [Symbol.asyncDispose]: async () => void (await Promise.all(started.map((part) => part.close()))),
  };
}
