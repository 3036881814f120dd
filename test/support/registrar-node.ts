import type { RegistrarOptions } from "../../src/registrar/model/options";
import type { StateName } from "../../src/registrar/model/state";
import type { Registration } from "../../src/registrar/registration/registration";
import { startRegistrar } from "../../src/registrar/start-registrar";
import { PATIENCE_MS } from "./history";
import { createNodeFolder } from "./node-folder";
import { type RecordedLog, recordLog } from "./recorded-log";

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
}

export async function startTestRegistrar(
  node: Pick<TestNode, "options">,
  options: Partial<RegistrarOptions> = {},
  signal?: AbortSignal,
): Promise<TestRegistrar> {
  const log = recordLog();
  const registrar = await startRegistrar({ ...node.options, ...options, logger: log.logger, signal });
  return {
    registrar,
    log,
    state: (wanted) =>
      new Promise((resolve) => {
        const look = () => {
          if (registrar.status().state !== wanted) return;
          unsubscribe();
          resolve();
        };
        const unsubscribe = registrar.subscribe(({ kind }) => kind === "state-changed" && look());
        look();
      }),
    [Symbol.asyncDispose]: () => registrar[Symbol.asyncDispose](),
  };
}
