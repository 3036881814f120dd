import type { PluginInfo } from "../../src/grpc/protos";
import type { RegistrarOptions } from "../../src/registrar/model/options";
import type { StateName } from "../../src/registrar/model/state";
import type { Registration } from "../../src/registrar/registration/registration";
import { startRegistrar } from "../../src/registrar/start-registrar";
import { startCsiDriver } from "../../src/simulator/driver/csi-driver";
import type { CsiDriverOptions } from "../../src/simulator/driver/options";
import { startKubelet } from "../../src/simulator/kubelet/kubelet";
import type { KubeletOptions } from "../../src/simulator/kubelet/options";
import { type FakeRegistrarOptions, startFakeRegistrar } from "../simulator/fake-registrar";
import { dialRegistration, registerOnce } from "./dial-registration";
import { eventually } from "./eventually";
import { PATIENCE_MS } from "./history";
import { createNodeFolder } from "./node-folder";
import { recordLog } from "./recorded-log";
import { startScriptedDriver } from "./scripted-driver";

export type TestNode = Awaited<ReturnType<typeof createTestNode>>;
interface AllOptions {
  readonly kubelet?: Partial<KubeletOptions>;
  readonly driver?: Partial<CsiDriverOptions>;
  readonly plugin?: Partial<FakeRegistrarOptions>;
}

export const DRIVER = "x.csi";
export const ENDPOINT = "/var/lib/kubelet/plugins/x.csi/csi.sock";
/** What kubelet learns of it. */
export const PLUGIN_INFO = {
  type: "CSIPlugin",
  name: DRIVER,
  endpoint: ENDPOINT,
  supportedVersions: ["1.0.0"],
};

/** A node in a folder, on which nothing runs at first. What is kept ends with it, and an end that fails fails the test. */
export async function createTestNode({ driverName = DRIVER, reconcilePeriodMs = 10 } = {}) {
  const folder = await createNodeFolder();
  const { csiAddress, pluginDir: pluginRegistrationPath } = folder;
  /** What a registrar is told. A slow machine is no slow driver. */
  const options: RegistrarOptions = {
    csiAddress,
    pluginRegistrationPath,
    endpoint: ENDPOINT,
    timeoutMs: PATIENCE_MS,
  };
  const socketPath = (name = driverName) => folder.socketPathOf(name);
  const parts: AsyncDisposable[] = [];
  const keep = <Part extends AsyncDisposable>(part: Part): Part => {
    parts.push(part);
    return part;
  };
  const driver = async (options: Partial<CsiDriverOptions> = {}) =>
    keep(await startCsiDriver({ csiAddress, name: driverName, nodeId: "n1", ...options }));
  /** Starts a simulated kubelet that looks more often than a real one, and waits longer for an answer. */
  const kubelet = async ({ timings, ...options }: Partial<KubeletOptions> = {}) =>
    keep(
      await startKubelet({
        pluginRegistrationPath,
        reconcilePeriodMs,
        waitTimeoutMs: PATIENCE_MS,
        ...options,
        timings: { getInfoMs: PATIENCE_MS, notifyMs: PATIENCE_MS, ...timings },
      }),
    );
  const plugin = async ({ info, ...options }: Partial<FakeRegistrarOptions> = {}) =>
    keep(
      await startFakeRegistrar({
        socketPath: socketPath(),
        info: { name: driverName, endpoint: csiAddress, ...info },
        ...options,
      }),
    );
  return {
    ...folder,
    ...{ pluginRegistrationPath, options, socketPath, keep, driver, kubelet, plugin },
    all: async (parts: AllOptions = {}) => ({
      kubelet: await kubelet(parts.kubelet),
      driver: await driver(parts.driver),
      registrar: await plugin(parts.plugin),
    }),
    [Symbol.asyncDispose]: async () => {
      const endings = await Promise.allSettled(parts.reverse().map((part) => part[Symbol.asyncDispose]()));
      await folder[Symbol.asyncDispose]();
      for (const ending of endings) if (ending.status === "rejected") throw ending.reason;
    },
  };
}

export type TestRegistrar = Awaited<ReturnType<typeof startTestRegistrar>>;

export async function startTestRegistrar(
  node: Pick<TestNode, "options">,
  options: Partial<RegistrarOptions> = {},
  signal?: AbortSignal,
) {
  const log = recordLog();
  const registrar = await startRegistrar({ ...node.options, ...options, logger: log.logger, signal });
  const state = (wanted: StateName) => untilState(registrar, wanted);
  const socketPath = () => registrar.status().registrationSocketPath ?? "";
  /** Calls GetInfo as kubelet does; once more where the socket has moved to another name meanwhile. */
  const ask = () =>
    eventually(async () => {
      const path = socketPath();
      const kubelet = dialRegistration(path);
      try {
        const info = await kubelet.getInfo();
        if (path !== socketPath()) throw new Error(`${path} was left`);
        return { ...kubelet, info };
      } catch (error) {
        kubelet[Symbol.dispose]();
        throw error;
      }
    });
  return {
    registrar,
    log,
    state,
    ask,
    accept: async (): Promise<PluginInfo> => {
      using kubelet = await ask();
      await kubelet.notify();
      await state("registered");
      return kubelet.info;
    },
    refuse: async (error: string): Promise<void> => {
      await registerOnce(socketPath(), error);
      await state("refused");
    },
    [Symbol.asyncDispose]: () => registrar[Symbol.asyncDispose](),
  };
}

/** Resolves when a registration is in this state, at once if it is now. */
export function untilState(registration: Registration, wanted: StateName): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (registration.status().state !== wanted) return;
      unsubscribe();
      resolve();
    };
    const unsubscribe = registration.subscribe("state-changed", look);
    look();
  });
}

export async function startListening(node: TestNode, options: Partial<RegistrarOptions> = {}) {
  const driver = await startScriptedDriver(node.csiAddress, { name: "x.csi" });
  const started = await startTestRegistrar(node, options);
  await started.state("listening");
  return {
    ...started,
    driver,
    [Symbol.asyncDispose]: async () => {
      await started[Symbol.asyncDispose]();
      await driver.stop();
    },
  };
}
