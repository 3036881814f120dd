import type { Mutant } from "../mutant";

const NODE_WIDE = "src/registrar/start-node-registrar.ts";
const DISCOVERY = "src/registrar/node-wide/discovery.ts";
const NODE_WIDE_TESTS = [
  "test/registrar/start-node-registrar",
  "test/registrar/node-wide/driver-changes",
  "test/registrar/node-wide/departures",
];

/** Mutants of the registrar of a whole node: which drivers are there, and what becomes of each. */
export const NODE_WIDE_MUTANTS: readonly Mutant[] = [
  {
    what: "a driver's departure is judged from its first loss",
    file: NODE_WIDE,
    from: '    clearTimeout(member.timer);\n    if (member.phase !== "serving" || stop.signal.aborted) return;\n',
    to: '    if (member.timer || member.phase !== "serving" || stop.signal.aborted) return;\n',
    tests: NODE_WIDE_TESTS,
  },
  {
    what: "a driver that fails after a long good life waits as if it had never worked",
    file: NODE_WIDE,
    from: "performance.now() - member.sinceMs < STEADY_AFTER_MS ? member.failures : 0",
    to: "member.failures",
    tests: NODE_WIDE_TESTS,
  },
  {
    what: "a driver that is back is deregistered all the same",
    file: NODE_WIDE,
    from: "      if (!isBack && member.phase",
    to: "      if (member.phase",
    tests: NODE_WIDE_TESTS,
  },
  {
    what: "a driver that is back, and silent until it goes, is registered for ever",
    file: NODE_WIDE,
    from: "        expectDeparture(member, Math.max(driverGoneAfterMs, SHORTEST_LOOK_MS));\n",
    to: "        void SHORTEST_LOOK_MS;\n",
    tests: NODE_WIDE_TESTS,
  },
  {
    what: "a name is taken for ever by the first driver that had it",
    file: NODE_WIDE,
    from: "      admission.release(owner);\n",
    to: "",
    tests: NODE_WIDE_TESTS,
  },
  {
    what: "a driver that was lost is never deregistered",
    file: NODE_WIDE,
    from: '      if (event.kind === "driver-lost") expectDeparture(member);\n',
    to: "",
    tests: NODE_WIDE_TESTS,
  },
  {
    what: "a driver that two patterns find has two registrars",
    file: NODE_WIDE,
    from: "if (stop.signal.aborted || members.has(csiAddress)) return;",
    to: "if (stop.signal.aborted) return;",
    tests: NODE_WIDE_TESTS,
  },
  {
    what: "a driver that failed and went away has a place for ever, and is not registered when it is back",
    file: NODE_WIDE,
    from: '    if (member.phase === "failed") members.delete(csiAddress);\n',
    to: "",
    tests: NODE_WIDE_TESTS,
  },
  {
    what: "a driver that failed is not tried again",
    file: NODE_WIDE,
    from: "    member.timer = setTimeout(() => startOver(failures + 1), waitMs);\n",
    to: "    void startOver;\n",
    tests: NODE_WIDE_TESTS,
  },
  {
    what: "a driver that left and is back in the same moment is not registered",
    file: NODE_WIDE,
    from: "      if (statsOf(csiAddress)?.isSocket()) join(csiAddress, kubeletRegistrationPath, failures);\n",
    to: "",
    tests: NODE_WIDE_TESTS,
  },
  {
    what: "a driver whose folder goes stays registered",
    file: NODE_WIDE,
    from: '          if (what === "folder") return leave(member, "its folder is gone");\n',
    to: "",
    tests: NODE_WIDE_TESTS,
  },
  {
    what: "a registrar that was closed leaves the timers of its drivers",
    file: NODE_WIDE,
    from: "    for (const { timer } of leaving) clearTimeout(timer);\n",
    to: "",
    tests: NODE_WIDE_TESTS,
  },
  {
    what: "a driver's socket made anew is not seen, where the inode's number is used again",
    file: DISCOVERY,
    from: "return other.isSocket() ? isSameSocket(one, other) : isSameFile(one, other);",
    to: "return isSameFile(one, other);",
    tests: ["test/registrar/node-wide/discovery"],
  },
  {
    what: "a folder made anew is not watched, where the inode's number is used again",
    file: DISCOVERY,
    from: "        watcher?.close();\n        watcher = undefined;\n",
    to: "",
    tests: ["test/registrar/node-wide/discovery"],
  },
  {
    what: "each folder that goes leaves its inotify watch",
    file: DISCOVERY,
    from: "        watcher?.close();\n        for (const entry",
    to: "        for (const entry",
    tests: ["test/registrar/node-wide"],
  },
];
