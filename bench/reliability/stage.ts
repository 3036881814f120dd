import { setTimeout as delay } from "node:timers/promises";
import { type CsiDriver, startCsiDriver } from "../../test/kubelet/support/csi-driver";
import { type Kubelet, type KubeletEvent, startKubelet } from "../../test/kubelet/support/kubelet";
import { createNodeFolder, type DriverPaths } from "../../test/kubelet/support/node-folder";
import { createKeeper } from "../keeper";
import { type Container, startContainer } from "./container";

const DRIVER = "disk.csi.example.com";

/** A registrar that takes part. */
export interface Contestant {
  /** Its program and the words in front of its arguments. */
  readonly command: readonly string[];
  readonly isOurs: boolean;
  /** Whether kubelet's liveness probe asks it. */
  readonly isProbed: boolean;
}

/** How long it took until the driver was registered for good, in milliseconds. */
export interface Recovery {
  /** 0: it was registered all the time. Undefined: it was not as long as was watched. */
  readonly registeredAfterMs: number | undefined;
  readonly watchedMs: number;
}

/** What a play came to: recovery, and how often the contestant's container was restarted. */
export interface Outcome extends Recovery {
  readonly restarts: number;
}

/** A node of its own for one play of one contestant. What is started here ends with it. */
export interface Stage extends AsyncDisposable {
  readonly contestant: Contestant;
  readonly official: Contestant;
  readonly paths: DriverPaths;
  removePluginDirectory(): Promise<void>;
  kubelet(): Promise<Kubelet>;
  /** Takes the place of the kubelet that was killed. */
  restarted(kubelet: Kubelet): Promise<Kubelet>;
  driver(): Promise<CsiDriver>;
  /** The contestant's container, or that of `who`. Only ours gets `ourFlags`. */
  registrar(options?: {
    readonly who?: Contestant;
    readonly ourFlags?: readonly string[];
  }): Promise<Container>;
}

/** Lays out a node; nothing runs on it yet. */
export async function createStage(
  version: string,
  contestant: Contestant,
  official: Contestant,
): Promise<Stage> {
  const node = await createNodeFolder();
  const { keep, ...keeper } = createKeeper();
  keep(node);
  const paths = await node.addDriver(DRIVER);
  const { pluginDir, removePluginDirectory } = node;
  return {
    contestant,
    official,
    removePluginDirectory,
    paths,
    kubelet: async () => keep(await startKubelet({ version, pluginDir })),
    restarted: async (kubelet) => keep(await kubelet.restart()),
    driver: async () => keep(await startCsiDriver({ endpoint: paths.kubeletRegistrationPath, name: DRIVER })),
    registrar: async ({ who = contestant, ourFlags = [] } = {}) => {
      const words = [...paths.args, ...(who.isOurs ? ourFlags : [])];
      return keep(await startContainer([...who.command, ...words], who.isProbed));
    },
    ...keeper,
  };
}

/** A driver that was registered for so long is registered for good: kubelet's loop runs each second. */
const FOR_GOOD_MS = 5_000;
const LOOK_EVERY_MS = 10;

/**
 * Watches from now on, for `limitMs` at most, until the driver is registered for good: kubelet's handler accepted it
 * and it has its entry in CSINode.
 */
export async function recovery(kubelet: Kubelet, limitMs = 120_000): Promise<Recovery> {
  const startMs = performance.now();
  let registration = registrationIn(kubelet);
  let sinceMs = startMs;
  for (let nowMs = startMs; nowMs - startMs < limitMs; nowMs = performance.now()) {
    const current = registrationIn(kubelet);
    if (current !== registration) sinceMs = nowMs;
    registration = current;
    if (registration !== undefined && nowMs - sinceMs >= FOR_GOOD_MS)
      return { registeredAfterMs: sinceMs - startMs, watchedMs: nowMs - startMs };
    await delay(LOOK_EVERY_MS);
  }
  return { registeredAfterMs: undefined, watchedMs: limitMs };
}

/** Resolves when the driver is registered for good, where nothing is measured yet. */
export async function registered(kubelet: Kubelet): Promise<void> {
  const { registeredAfterMs } = await recovery(kubelet);
  if (registeredAfterMs === undefined) throw new Error("the driver was not even registered at first");
}

/** The event by which the driver is registered now; another one when it was registered anew in the meantime. */
function registrationIn({ events, objects }: Kubelet): KubeletEvent | undefined {
  const last = events.all().findLast((event) => event.event === "register" || event.event === "deregister");
  if (last?.event !== "register" || last.error !== null) return undefined;
  return objects().csiNode?.spec.drivers.some(({ name }) => name === DRIVER) ? last : undefined;
}
