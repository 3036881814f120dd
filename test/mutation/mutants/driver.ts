import type { Mutant } from "../mutant";

const WATCH = "src/registrar/driver/watch-driver.ts";
const PRESENCE = "src/registrar/driver/driver-presence.ts";
const PRESENCE_TESTS = ["test/registrar/driver/driver-presence"];

/** Mutants of what follows one driver: whether it is there, and when it is asked. */
export const DRIVER_MUTANTS: readonly Mutant[] = [
  {
    what: "a driver that was lost once is registered anew at each connection that it ends",
    file: PRESENCE,
    from: "      lostAtMs = undefined;\n",
    to: "",
    tests: PRESENCE_TESTS,
  },
  {
    what: "a driver that ends a connection for its age is lost",
    file: PRESENCE,
    from: "if (present === file)",
    to: "if (present !== file)",
    tests: PRESENCE_TESTS,
  },
  {
    what: "a driver that ended connections early is reconnected to late, however long it has kept one since",
    file: WATCH,
    from: "lastedMs < STEADY_AFTER_MS ? earlyLosses + 1 : 0",
    to: "earlyLosses + Math.sign(lastedMs + 1)",
    tests: ["test/registrar/driver/restless-driver"],
  },
  {
    what: "a driver that was long not ready is asked late after each later failure",
    file: WATCH,
    from: "        failures = 0;\n",
    to: "",
    tests: ["test/registrar/driver/restless-driver"],
  },
  {
    what: "a driver that answered in time is given up all the same",
    file: WATCH,
    from: "        clearTimeout(timer);\n",
    to: "",
    tests: ["test/registrar/driver/watch-driver"],
  },
  {
    what: "the watch of a driver outlives its owner",
    file: WATCH,
    from: "AbortSignal.any([context.signal, patience.signal])",
    to: "patience.signal",
    tests: ["test/registrar/driver/watch-driver"],
  },
  {
    what: "a driver that refuses to tell its name is asked many times a second",
    file: WATCH,
    from: 'except = pace === "soon" ? undefined : { file, forMs: SLOW_RETRY_MS };',
    to: "except = undefined;",
    tests: ["test/registrar/driver/refusing-driver"],
  },
  {
    what: "a driver that does not know the call is asked it again",
    file: WATCH,
    from: '        if (pace === "after-restart") await endOf(connection, place);\n',
    to: "",
    tests: ["test/registrar/driver/refusing-driver"],
  },
  {
    what: "a driver that does not accept connections any more counts as there",
    file: WATCH,
    from: "presence.lost();\n        if (errnoOf",
    to: "if (errnoOf",
    tests: ["test/registrar/driver", "test/registrar/start-registrar"],
  },
  {
    what: "a driver's connections are never closed",
    file: WATCH,
    from: "        connection.close();\n",
    to: "",
    tests: ["test/registrar/driver/watch-driver"],
  },
  {
    what: "each connection to a driver leaves a listener",
    file: "src/registrar/driver/driver-connection.ts",
    from: '          until.removeEventListener("abort", look);\n',
    to: "",
    tests: ["test/registrar/driver/driver-connection"],
  },
  {
    what: "a driver whose socket is removed or replaced counts as there, though kubelet cannot reach it",
    file: "src/registrar/driver/watch-driver.ts",
    from: "await Promise.race([ended(either), untilReplaced(path, file, either)]);",
    to: "await ended(either);",
    tests: ["test/registrar/driver/watch-driver"],
  },
  {
    what: "a driver that restarts while it is dialled is taken for the one before",
    file: "src/unix/unix-socket.ts",
    from: "      if (problem === undefined && file !== fileAt(path)) continue;\n",
    to: "",
    tests: ["test/unix/unix-socket"],
  },
  {
    what: "a driver that came back as another version is not registered anew",
    file: "src/registrar/driver/follow-driver.ts",
    from: "(awayMs !== undefined || isOtherVersion)",
    to: "awayMs !== undefined",
    tests: ["test/registrar/reregistration"],
  },
  {
    what: "a driver that came back under an unsafe name is registered by it",
    file: "src/registrar/driver/follow-driver.ts",
    from: "if (before?.name !== name) admitDriverName(name, log);",
    to: "if (before === undefined) admitDriverName(name, log);",
    tests: ["test/registrar/start-registrar", "test/registrar/driver"],
  },
];
