import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { Registrations } from "../registrar/registrations";

/** Long enough for the drivers of a whole node to come one after the other. */
const QUIET_MS = 10_000;

/** Connections that leave a megabyte of garbage; kubelet, probes and scrapes make so many in a quarter of an hour. */
const CROWD = 32;
/** So long after a crowd a single client may be the last of it. */
const AFTERMATH_MS = 60_000;
/** The connections of one burst are to be collected together. */
const BURST_MS = 1_000;
/** A collection stops everything, on a busy node for long: so much of the time it may take at most. */
const SHARE_OF_TIME = 1 / 8;

/**
 * Keeps V8's heap as small as a sidecar's is to be, whoever connects. By itself V8 lets the space of young objects grow
 * to 32 MB and the old ones' by 8 MB and more before it collects, and compiles code that runs often, which takes
 * megabytes: for speed that nobody here needs. To be called after the start, which is quicker with the heap V8 likes.
 */
export async function keepHeapSmall(): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  const flags = [
    "--semi-space-growth-factor=1",
    "--optimize-for-size",
    "--no-opt",
    "--no-maglev",
    "--no-sparkplug",
  ];
  for (const flag of flags) setFlagsFromString(flag);
}

/**
 * Collects garbage when nothing was registered for a while: what the start and registrations left behind. V8 waits for
 * more work to come, so from Node 24 on a process that idles would keep it for good: 4 MB, with 100 drivers 30 MB.
 */
export function collectWhenQuiet(
  registrations: Registrations,
  collect: () => unknown = collectGarbage,
): void {
  const quiet = setTimeout(collect, QUIET_MS).unref();
  registrations.subscribe((event) => {
    if (event.kind === "state-changed" && event.change.to === "registered") quiet.refresh();
  });
}

/**
 * Collects garbage when many clients have gone, of whichever of our listeners: each leaves some 30 kB. For a minute after
 * that also when fewer go, which may have been among them.
 */
export function collectAfterCrowds(collect: () => unknown = collectGarbage): void {
  let gone = 0;
  let aftermathEndsAt = 0;
  let mayCollectAt = 0;
  let isDue = false;
  const collectAll = async () => {
    const startedAt = performance.now();
    await collect();
    const endedAt = performance.now();
    mayCollectAt = endedAt + (endedAt - startedAt) / SHARE_OF_TIME;
    if (gone >= CROWD) aftermathEndsAt = endedAt + AFTERMATH_MS;
    gone = 0;
    isDue = false;
  };
  subscribe("net.server.socket", (message) => {
    const { socket } = message as { readonly socket: Socket };
    socket.once("close", () => {
      gone += 1;
      const now = performance.now();
      if (isDue || (gone < CROWD && now >= aftermathEndsAt)) return;
      isDue = true;
      setTimeout(collectAll, Math.max(BURST_MS, mayCollectAt - now)).unref();
    });
  });
}

/** Takes 25 ms, with 100 drivers 50 ms. What it needs of Node is loaded when the start is long over. */
async function collectGarbage(): Promise<void> {
  const [{ setFlagsFromString }, { runInNewContext }] = await Promise.all([
    import("node:v8"),
    import("node:vm"),
  ]);
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as NodeJS.GCFunction;
  setFlagsFromString("--no-expose-gc");
  // The last resort also gives free pages back to the system. Node 20 takes any option for "the young objects only".
  if (process.version.startsWith("v20.")) gc();
  else gc({ type: "major", execution: "sync", flavor: "last-resort" });
}
