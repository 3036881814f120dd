import { type Mutant, mutantsOf } from "../mutant";

/** Mutants of the HTTP endpoint, and of a driver that is served in this process. */
export const SERVING_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/diagnostics/routes.ts", ["test/diagnostics/routes.test"], {
    "of several drivers, a broken one has all of them restarted": [
      "      failure ??= found;\n",
      "      failure ??= found;\n      break;\n",
    ],
    "a probe asks every driver before the one that passes": ["        passedLast = one;\n", ""],
    "a node without drivers has its registrar restarted": [
      "if (failure === undefined) {",
      "if (failure === undefined && passedLast !== undefined) {",
    ],
    "each probe that is well logs an error": [
      'log.v(5).info("Health check succeeded");',
      'log.error(undefined, "Health check succeeded");',
    ],
  }),
  ...mutantsOf("src/diagnostics/server.ts", ["test/diagnostics/http"], {
    "a scrape that is being answered is closed for an idle connection's sake": [
      "({ isAnswering }) => !isAnswering",
      "() => true",
    ],
  }),
  ...mutantsOf("src/diagnostics/http/connection.ts", ["test/diagnostics/http"], {
    "a client that waits for no answer is answered thousands of times": [
      "if (answering !== undefined || isLast) {",
      "if (Object.is(isLast, undefined)) {",
    ],
    "a head without end fills the memory": ["if (end < 0 && !isTooMuch) return;", "if (end < 0) return;"],
    "a CPU profile goes on when nobody waits for it any more": [
      "    clearTimeout(deadline);\n    answering?.abort();\n",
      "    clearTimeout(deadline);\n",
    ],
  }),
  ...mutantsOf("src/serving/serve-csi-driver.ts", ["test/serving/serve-csi-driver"], {
    "its socket stays until the last call has ended, and takes new clients": [
      "    await socket?.withdraw();\n    await driver.close({ graceMs: resolved.graceMs });\n",
      "    await driver.close({ graceMs: resolved.graceMs });\n    await socket?.withdraw();\n",
    ],
  }),
  ...mutantsOf("src/grpc/handlers.ts", ["test/grpc/handlers"], {
    "a handler that answers by its promise leaves its caller waiting": ["answer(null, value)", "void value"],
    "the error of a handler's promise leaves its caller waiting": [
      "(isAnswered ? report(error) : answer(errorStatus(error)))",
      "report(error)",
    ],
    "a stream whose handler throws never ends": [
      '      call.emit("error", errorStatus(error)),\n',
      "      report(error),\n",
    ],
    "what a handler throws is in no log": ["      if (error) report(thrownIn(error));\n", ""],
  }),
  ...mutantsOf("src/serving/driver-socket.ts", ["test/serving/driver-socket"], {
    "another driver that lives loses its socket": ["overLiving: false", "overLiving: true"],
    "a driver's socket that somebody removes is put back a minute later": [
      "      await watch.wait(signal);\n",
      "      await new Promise((done) => setTimeout(done, 60_000));\n",
    ],
  }),
];
