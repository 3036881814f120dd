import { join } from "node:path";
import { messageOf } from "../../../src/base/errors";
import { type CsiDriverOptions, startCsiDriver } from "../../../src/testing";
import { type FakeRegistrarOptions, startFakeRegistrar } from "../../simulator/fake-registrar";
import type { History } from "../../support/history";
import type { RunningKubelet } from "./kubelets";
import { comparable, driverHears, kubeletStep, objectStep, registrarStep, type Step } from "./step";

export interface Scenario {
  readonly name: string;
  /** A call that is left without an answer, once, until kubelet gives it up. */
  readonly hangs?: "GetInfo" | "NotifyRegistrationStatus";
  readonly script: Script;
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
    const running = await startCsiDriver({ csiAddress, name, nodeId: `node of ${name}`, ...others });
    started.push(running);
    running.events.subscribe((event) => {
      if (event.kind === "called") onStep(driverHears(csiAddress, event.method, event.authority));
    });
    return running;
  };

  /** Publishes a registration socket, in place of one that is there. `info` is what differs from x.csi. */
  const registrar = async ({ name = "a.sock", info, before }: RegistrarOptions = {}) => {
    const path = at(name);
    const since = steps.all().length;
    const endpoint = elsewhere(info?.name ?? "x.csi");
    const running = await startFakeRegistrar({
      socketPath: path,
      info: { endpoint, ...info },
      ...(before && { before }),
    });
    started.push(running);
    running.events.subscribe((event) => {
      if (event.kind === "left") onStep(registrarStep.left(path));
      else if (event.kind === "notified") {
        onStep(event.registered ? registrarStep.registered(path) : registrarStep.refused(path, event.error));
      } else if (event.method === "GetInfo") onStep(registrarStep.asked(path, event.authority));
    });
    return {
      ...running,
      dialled: () => until(kubeletStep.starts(path, "register"), 1, since),
      registered: async (nth = 1) => {
        const told = await until(registrarStep.registered(path), nth, since);
        await until(registrarStep.left(path), 1, told);
      },
      failed: (nth = 1) => until(kubeletStep.failsSomehow(path), nth, since),
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
    await until(kubeletStep.starts(at(socketName), "unregister"));
  };

  async function settled(): Promise<void> {
    const name = `marker-${++markers}`;
    await driver({ name });
    const marker = await accepted({ name: `${name}.sock`, info: { name } });
    await marker.close();
    await deregistered(name, `${name}.sock`);
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
    [Symbol.asyncDispose]: async () => void (await Promise.all(started.map((part) => part.close()))),
  };
}
