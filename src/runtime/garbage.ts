import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { Registrations } from "../registrar/registration/registrations";

/** Long enough for all drivers of a node to register one after the other. */
const QUIET_MS = 10_000;
/** A collection after 3 s frees a third as much. */
const CROWD_MS = 1_000;
/** So many connections leave a megabyte of garbage; kubelet, probes and scrapes make them in a quarter of an hour. */
const CROWD = 32;

/**
 * By default V8's young objects grow to 32 MB, and hot code is compiled, which takes megabytes. 20 s after our collection V8
 * collects twice more in small steps, which frees nothing and takes as much CPU again. At rest a task looks every 8 s
 * whether to collect young objects, and a collection wakes up four threads for what takes one of them 1 ms.
 */
export const SMALL_HEAP = [
  "--semi-space-growth-factor=1",
  "--optimize-for-size",
  "--no-opt",
  "--no-maglev",
  "--no-sparkplug",
  "--no-incremental-marking",
  "--no-minor-gc-task",
  "--no-parallel-scavenge",
];

/** Limits V8's heap. Called after the start, which is quicker with V8's own settings. */
export async function keepHeapSmall(): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  for (const flag of SMALL_HEAP) setFlagsFromString(flag);
}

/**
 * Collects garbage 10 s after the latest registration, and 1 s after 32 clients have left. V8 waits for more work: from
 * Node 24 on an idle process keeps the garbage of its start (4 MB, with 100 drivers 30 MB), and any Node that of clients
 * (6.5 MB after 200 connections, 10 MB after 500).
 */
export function collectWhenQuiet(
  registrations: Registrations,
  collect: () => unknown = () => collectGarbage().catch(() => {}),
): void {
  const quiet = setTimeout(collect, QUIET_MS).unref();
  registrations.subscribe((event) => {
    if (event.kind === "state-changed" && event.change.to === "registered") quiet.refresh();
  });
  let gone = 0;
  let crowd: NodeJS.Timeout | undefined;
  subscribe("net.server.socket", (message) => {
    const { socket } = message as { readonly socket: Socket };
    socket.once("close", () => {
      gone = (gone + 1) % CROWD;
      if (gone === 0) crowd = crowd?.refresh() ?? setTimeout(collect, CROWD_MS).unref();
    });
  });
}

/** Takes 25 ms, with 100 drivers 50 ms. Loads its modules only now, to keep the start short. */
async function collectGarbage(): Promise<void> {
  const [{ setFlagsFromString }, { runInNewContext }] = await Promise.all([
    import("node:v8"),
    import("node:vm"),
  ]);
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as NodeJS.GCFunction;
  setFlagsFromString("--no-expose-gc");
  // The last resort also gives free pages back to the system. Node 20 reads any option as "young objects only".
  if (process.version.startsWith("v20.")) gc();
  else gc({ type: "major", execution: "sync", flavor: "last-resort" });
}
