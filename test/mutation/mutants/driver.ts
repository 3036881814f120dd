import { type Mutant, mutantsOf } from "../mutant";

/** Mutants of what follows one driver: whether it is there, and when it is asked. */
export const DRIVER_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/registrar/driver/watch-driver.ts", ["test/registrar/driver/watch-driver"], {
    "a driver that was lost once is registered anew at each connection that it ends":
      "      lostAtMs = undefined;\n",
    "a driver that ends a connection for its age is lost": ["if (present === file)", "if (present !== file)"],
    "a driver that ended connections early is reconnected to late, however long it has kept one since": [
      "lastedMs < STEADY_AFTER_MS ? earlyLosses + 1 : 0",
      "earlyLosses + Math.sign(lastedMs + 1)",
      ["test/registrar/driver/restless-driver"],
    ],
    "a driver that was long not ready is asked late after each later failure": [
      "      failures = 0;\n",
      "",
      ["test/registrar/driver/restless-driver"],
    ],
    "a driver that answered in time is given up all the same": "        clearTimeout(timer);\n",
    "the watch of a driver outlives its owner": [
      "AbortSignal.any([context.signal, patience.signal])",
      "patience.signal",
    ],
    "a driver that refuses to tell its name is asked many times a second": [
      "except = slow && { file, forMs: waitMs };",
      "except = undefined;",
    ],
    "a driver that listens before it has its services is never asked again soon": [
      "[status.UNIMPLEMENTED]: BACKOFF.incompleteDriver",
      "[status.UNIMPLEMENTED]: BACKOFF.unfitDriver",
    ],
    "a driver that does not accept connections any more counts as there": [
      "presence.lost();\n    if (errnoOf",
      "if (errnoOf",
      ["test/registrar/driver", "test/registrar/start-registrar"],
    ],
    "a driver's connections are never closed": ["using connection", "const connection"],
    "a driver whose socket is removed or replaced counts as there, though kubelet cannot reach it": [
      "ended(), untilReplaced(path, file, { log, signal: over.signal }), aborted",
      "ended(), aborted",
    ],
    "the end of a registration waits for a file system that hangs": [
      "over.signal }), aborted]",
      "over.signal })]",
    ],
  }),
  ...mutantsOf("src/registrar/driver/driver-connection.ts", ["test/registrar/driver/watch-driver"], {
    "the end of a driver's connection is not seen": [
      "Number.POSITIVE_INFINITY, () => resolve()",
      "Number.POSITIVE_INFINITY, () => {}",
    ],
  }),
  ...mutantsOf("src/unix/unix-socket.ts", ["test/unix/unix-socket"], {
    "a driver that restarts while it is dialled is taken for the one before":
      "      else if (file !== (await fileAt(path))) continue;\n",
  }),
  ...mutantsOf("src/registrar/driver/driver-events.ts", ["test/registrar/start-registrar"], {
    "a driver that came back as another version is not registered anew": [
      "(awayMs !== undefined || isOtherVersion)",
      "awayMs !== undefined",
    ],
    "a driver that came back under an unsafe name is registered by it": [
      "if (before?.name !== name) admitDriverName(name, log);",
      "if (before === undefined) admitDriverName(name, log);",
      ["test/registrar/start-registrar", "test/registrar/driver"],
    ],
  }),
];
