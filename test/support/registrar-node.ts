import type { PluginInfo } from "../../src/grpc/protos";
import type { RegistrarOptions } from "../../src/registrar/model/options";
import type { StateName } from "../../src/registrar/model/state";
import type { Registration } from "../../src/registrar/registration/registration";
import { startRegistrar } from "../../src/registrar/start-registrar";
import { registerOnce } from "./fake-kubelet";
import { PATIENCE_MS } from "./history";
import { createNodeFolder } from "./node-folder";
import { type RecordedLog, recordLog } from "./recorded-log";
import { type ScriptedDriver, startScriptedDriver } from "./scripted-driver";

/** The folders of a node, and what a registrar is told about them. */
export interface TestNode extends AsyncDisposable {
  readonly csiAddress: string;
  readonly pluginRegistrationPath: string;
  readonly options: RegistrarOptions;
  readonly socketPath: (driverName: string) => string;
}

/** What kubelet is told as the driver's endpoint in these tests. */
export const ENDPOINT = "/var/lib/kubelet/plugins/x.csi/csi.sock";

export async function createTestNode(): Promise<TestNode> {
  const folder = await createNodeFolder();
  const { csiAddress, pluginDir: pluginRegistrationPath } = folder;
  return {
    csiAddress,
    pluginRegistrationPath,
    // A slow machine is no slow driver.
    options: {
      csiAddress,
      pluginRegistrationPath,
      kubeletRegistrationPath: ENDPOINT,
      timeoutMs: PATIENCE_MS,
    },
    socketPath: folder.socketPathOf,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** A registrar, its log, and a way to await its states. */
export interface TestRegistrar extends AsyncDisposable {
  readonly registrar: Registration;
  readonly log: RecordedLog;
  /** Resolves when it is in this state, at once if it is now. */
  state(wanted: StateName): Promise<void>;
  /** Does what kubelet does with its socket, until the driver is registered. */
  accept(): Promise<PluginInfo>;
  /** The same, but kubelet refuses the driver with this text. */
  refuse(error: string): Promise<void>;
}

export async function startTestRegistrar(
  node: Pick<TestNode, "options">,
  options: Partial<RegistrarOptions> = {},
  signal?: AbortSignal,
): Promise<TestRegistrar> {
  const log = recordLog();
  const registrar = await startRegistrar({ ...node.options, ...options, logger: log.logger, signal });
  const state = (wanted: StateName) => untilState(registrar, wanted);
  const socketPath = () => registrar.status().registrationSocketPath ?? "";
  return {
    registrar,
    log,
    state,
    accept: async () => {
      const info = await registerOnce(socketPath());
      await state("registered");
      return info;
    },
    refuse: async (error) => {
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

/** The driver x.csi, and its registrar, whose socket is in place for kubelet. */
export async function startListening(
  node: TestNode,
  options: Partial<RegistrarOptions> = {},
): Promise<TestRegistrar & { readonly driver: ScriptedDriver }> {
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
