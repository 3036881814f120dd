import { type Mutant, mutantsOf } from "../mutant";

const KUBELET = ["test/simulator/kubelet"];

/** Mutants of the simulated kubelet and driver: what it does otherwise than the real one, users' tests do not find. */
export const SIMULATOR_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/simulator/kubelet/plugin-manager.ts", KUBELET, {
    "a socket that was replaced is not registered anew": [
      "now?.generation !== plugin.generation",
      "now === undefined",
    ],
    "a failure's wait does not grow": ["before.waitMs * 2", "before.waitMs"],
    "a failure's wait grows without end": [
      "Math.min(before.waitMs * 2, timings.backoffMaxMs)",
      "before.waitMs * 2",
    ],
    "a path is called while it is called": "    if (running.has(socketPath)) return;\n",
    "a path is called while it is backing off": [
      "    if (backoff && backoff.untilMs > nowMs) return reportWait(socketPath, backoff, nowMs);\n",
      "",
    ],
    "a success leaves the wait of the failure before it": [
      "    backoffs.delete(socketPath);\n    if (error",
      "    if (error",
    ],
    "it calls on after its end": "      stopTimer(timer);\n",
    "each registration leaves a connection": ["  } finally {\n    client.close();\n", "  } finally {\n"],
    "a refused plugin is not told": [
      "  const notified = await notify(attempt, { pluginRegistered: false, error: reason });\n",
      '  const notified = { kind: "ok" } as { kind: "ok" } | { kind: "error"; error: string };\n',
    ],
    "an old kubelet remembers a driver that it refused": [
      'if (behaviour.afterFailure === "forget") actual.delete(socketPath);\n    return refuse',
      "return refuse",
    ],
    "a removed driver stays in the actual state": "    actual.delete(plugin.socketPath);\n",
  }),
  ...mutantsOf("src/simulator/kubelet/plugin-watcher.ts", ["test/simulator"], {
    "a hidden file is registered": ['    if (isHidden(path)) return ignore(path, "hidden");\n', ""],
    "a chmod counts as a change": ['event === "rename" && ', ""],
    "one event that comes twice makes two generations": [
      "    if (before && sameFile(before.stats, stats) && before.stats.ctimeNs === stats.ctimeNs) return;\n",
      "",
    ],
    "a socket that was renamed is gone": ["    if (before && wasRenamed(path, before.stats)) return;\n", ""],
  }),
  ...mutantsOf("src/simulator/kubelet/plugin-handlers.ts", ["test/simulator"], {
    "a driver whose NodeGetInfo failed stays on the list": [
      '      if (!signal.aborted) remove(name, "registration-failed");\n',
      "",
    ],
    "a driver that was never installed is told to be deregistered": ["if (driver?.isInstalled) emit", "emit"],
  }),
  ...mutantsOf("src/simulator/driver/csi-driver.ts", ["test/simulator"], {
    "a driver that hangs keeps calls whose caller has gone": [
      '    if (!signal.aborted) await once(signal, "abort");\n',
      "    await new Promise(() => {});\n",
    ],
  }),
];
