import { type Mutant, mutantsOf } from "../mutant";

/** Mutants of the registrar of a whole node: which drivers are there, and what becomes of each. */
export const NODE_WIDE_MUTANTS: readonly Mutant[] = [
  ...mutantsOf(
    "src/registrar/node-wide/node-drivers.ts",
    [
      "test/registrar/start-node-registrar",
      "test/registrar/node-wide/driver-changes",
      "test/registrar/node-wide/departures",
    ],
    {
      "a driver's departure is judged from its first loss": [
        'if (phase !== "serving" || signal.aborted) return;',
        'if (timer || phase !== "serving" || signal.aborted) return;',
      ],
      "a driver that fails after a long good life waits as if it had never worked": [
        "performance.now() - sinceMs < STEADY_AFTER_MS ? failuresBefore : 0",
        "failuresBefore",
      ],
      "a driver that is back is deregistered all the same": [
        "if (!isBack) leave",
        "if (isBack || true) leave",
      ],
      "a driver that is back, and silent until it goes, is registered for ever": [
        "        expectDeparture(Math.max(driverGoneAfterMs, SHORTEST_LOOK_MS));\n",
        "        void SHORTEST_LOOK_MS;\n",
      ],
      "a driver that was lost is never deregistered":
        '  registration.subscribe("driver-lost", () => expectDeparture());\n',
      "a driver that two patterns find has two registrars": [
        "=== file)) continue;",
        "=== file && !places.has(csiAddress))) continue;",
      ],
      "a directory and a link to it are two drivers": ["?.file === file)", "=== sockets.get(csiAddress))"],
      "a driver that failed and went away has a place for ever, and is not registered when it is back":
        '    if (phase !== "serving") return vacate();\n',
      "a driver with ever other names is registered at each restart":
        '      if (phase === "renamed") return;\n',
      "a driver that failed is not tried again": [
        "setTimeout(vacate, waitMs, ",
        "setTimeout(() => {}, waitMs, ",
      ],
      "a driver that left and is back in the same moment is not registered": [
        "if (failuresNow === undefined) joinAll();\n      else join",
        "if (failuresNow !== undefined) join",
      ],
      "a driver whose folder goes stays registered": [
        'place.leave("its directory is gone")',
        "place.loseSocket()",
      ],
      "a registrar that was closed leaves the timers of its drivers": [
        "      clearTimeout(timer);\n      return registration.close();",
        "      return registration.close();",
      ],
    },
  ),
  ...mutantsOf("src/registrar/start-node-registrar.ts", ["test/registrar/node-wide/driver-changes"], {
    "a name is taken for ever by the first driver that had it":
      "    registration.closed.then(() => admission.release(csiAddress)).catch(() => {}); // It never rejects.\n",
  }),
  ...mutantsOf("src/registrar/driver/watch-driver.ts", ["test/registrar/node-wide/departures"], {
    "a dead socket is spoken of every 100 minutes": [
      "REMIND_NODE_WIDE_EVERY_MS = 600_000;",
      "REMIND_NODE_WIDE_EVERY_MS = 6_000_000;",
    ],
  }),
  ...mutantsOf("src/registrar/node-wide/discovery.ts", ["test/registrar/node-wide/discovery"], {
    "a folder that could not be read for want of descriptors is read when it changes":
      "    whenShort ??= setTimeout(rootWatch.hint, LOOK_WHEN_SHORT_MS);\n",
  }),
  ...mutantsOf("src/registrar/node-wide/scan.ts", ["test/registrar/node-wide/scan"], {
    "a directory in one that was replaced counts as still there": [
      "goneDirectories.has(dirname(path)) || !there",
      "!there",
    ],
    "a socket in a directory that was replaced is not found anew": [
      "!goneDirectories.has(dirname(path)) && there",
      "there",
    ],
    "a name that is gone stays": ["      else entries.delete(name);\n", ""],
    "a directory that was replaced keeps the entries of the former one": [
      "isSameDirectory(known.stats, stats) && !changed",
      "!changed",
    ],
  }),
];
