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
        '    clearTimeout(place.timer);\n    if (place.phase !== "serving" || signal.aborted) return;\n',
        '    if (place.timer || place.phase !== "serving" || signal.aborted) return;\n',
      ],
      "a driver that fails after a long good life waits as if it had never worked": [
        "performance.now() - place.sinceMs < STEADY_AFTER_MS ? place.failures : 0",
        "place.failures",
      ],
      "a driver that is back is deregistered all the same": [
        "      if (!isBack && place.phase",
        "      if (place.phase",
      ],
      "a driver that is back, and silent until it goes, is registered for ever": [
        "        expectDeparture(place, Math.max(driverGoneAfterMs, SHORTEST_LOOK_MS));\n",
        "        void SHORTEST_LOOK_MS;\n",
      ],
      "a driver that was lost is never deregistered":
        '    registration.subscribe("driver-lost", () => expectDeparture(place));\n',
      "a driver that two patterns find has two registrars": [
        "if (!places.has(csiAddress)) joinIfRoom(csiAddress);",
        "joinIfRoom(csiAddress);",
      ],
      "a driver that failed and went away has a place for ever, and is not registered when it is back":
        '    if (place.phase === "failed") places.delete(csiAddress);\n',
      "a driver that failed is not tried again": [
        "    place.timer = setTimeout(() => startOver(failures + 1), waitMs);\n",
        "    void startOver;\n",
      ],
      "a driver that left and is back in the same moment is not registered":
        "      join(csiAddress, failures);\n",
      "a driver whose folder goes stays registered": ['if (what === "socket" && isKnown)', "if (isKnown)"],
      "a registrar that was closed leaves the timers of its drivers":
        "    for (const { timer } of places.values()) clearTimeout(timer);\n",
    },
  ),
  ...mutantsOf("src/registrar/start-node-registrar.ts", ["test/registrar/node-wide/driver-changes"], {
    "a name is taken for ever by the first driver that had it":
      "    registration.closed.then(() => admission.release(owner)).catch(() => {}); // It never rejects.\n",
  }),
  ...mutantsOf("src/registrar/node-wide/discovery.ts", ["test/registrar/node-wide/discovery"], {
    "a driver that inotify misses is found after 50 minutes": ["EVERY_MS = 30_000", "EVERY_MS = 3_000_000"],
    "a folder that could not be read for want of descriptors is read half a minute later":
      "    whenShort = setTimeout(rootWatch.hint, LOOK_WHEN_SHORT_MS);\n",
    "a driver's socket made anew is not seen, where the inode's number is used again": [
      "return known.isSocket() ? isSameSocket(known, found) : isSameFile(known, found);",
      "return isSameFile(known, found);",
    ],
    "a folder made anew is not watched, where the inode's number is used again":
      "        watcher?.close();\n        watcher = undefined;\n",
    "each folder that goes leaves its inotify watch": [
      "        watcher?.close();\n        for (const entry",
      "        for (const entry",
      ["test/registrar/node-wide"],
    ],
  }),
];
