import { join } from "node:path";
import { messageOf } from "../../../src/base/errors";
import { startCsiDriver } from "../../../src/testing";
import { startFakeRegistrar } from "../../simulator/fake-registrar";
import type { History } from "../../support/history";
import { comparable } from "./comparable";
import type { ScriptedNode } from "./scenario";
import { driverStep, kubeletStep, objectStep, registrarStep, type Step } from "./step";
import type { RunningKubelet } from "./tested-kubelet";

export interface ScriptedNodeOptions {
  readonly folder: string;
  readonly pluginDir: string;
  readonly kubelet: RunningKubelet;
  /** All that happens, for scripts to wait for. */
  readonly steps: History<Step>;
  readonly onStep: (step: Step) => void;
}

/** Makes the node of one script. Disposed of, it ends what the script started. */
export function createScriptedNode(options: ScriptedNodeOptions): ScriptedNode & AsyncDisposable {
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

  const driver: ScriptedNode["driver"] = async ({ name = "x.csi", ...others } = {}) => {
    const csiAddress = elsewhere(name);
    const running = await startCsiDriver({ csiAddress, name, nodeId: `node of ${name}`, ...others });
    started.push(running);
    running.events.subscribe((event) => {
      if (event.kind === "called") onStep(driverStep.asked(csiAddress, event.method, event.authority));
    });
    return running;
  };

  const registrar: ScriptedNode["registrar"] = async ({ name = "a.sock", info, before } = {}) => {
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
      dialled: async () => void (await until(kubeletStep.starts(path, "register"), 1, since)),
      registered: async (nth) => {
        const told = await until(registrarStep.registered(path), nth, since);
        await until(registrarStep.left(path), 1, told);
      },
      failed: async (nth) => void (await until(kubeletStep.failsSomehow(path), nth, since)),
    };
  };

  const failed: ScriptedNode["failed"] = async (socketName) => {
    await until(kubeletStep.failsSomehow(at(socketName)));
  };

  const deregistered: ScriptedNode["deregistered"] = async (driverName = "x.csi", socketName = "a.sock") => {
    await until(objectStep.node(driverName, undefined));
    // Kubelet logs that it has started this after it did, which may be when it is done.
    await until(kubeletStep.starts(at(socketName), "unregister"));
  };

  async function settled(): Promise<void> {
    const name = `marker-${++markers}`;
    await driver({ name });
    const marker = await registrar({ name: `${name}.sock`, info: { name } });
    await marker.registered();
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
    refuse: kubelet.refuse,
    restart: () => whileDown(async () => {}),
    whileDown,
    failed,
    deregistered,
    settled,
    triedAgain: async () => {
      await settled();
      await settled();
    },
    [Symbol.asyncDispose]: async () => void (await Promise.all(started.map((part) => part.close()))),
  };
}
