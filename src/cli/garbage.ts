import type { Registrations } from "../registrar/registrations";

/** Long enough for the drivers of a whole node to come one after the other. */
const QUIET_MS = 10_000;

/**
 * Collects garbage when nothing was registered for a while: what the start and registrations left behind. V8 waits for
 * more work to come, so from Node 24 on a process that idles would keep it for good: 4 MB, with 100 drivers 30 MB.
 * Node 20 gives it back by itself; it knows none of the options below, and collects the young objects only.
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

/** Takes 25 ms, with 100 drivers 50 ms. What it needs of Node is loaded when the start is long over. */
async function collectGarbage(): Promise<void> {
  const [{ setFlagsFromString }, { runInNewContext }] = await Promise.all([
    import("node:v8"),
    import("node:vm"),
  ]);
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as NodeJS.GCFunction;
  setFlagsFromString("--no-expose-gc");
  // The last resort also gives free pages back to the system.
  gc({ type: "major", execution: "sync", flavor: "last-resort" });
}
