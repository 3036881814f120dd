import type { Mutant } from "../mutant";

const HEALTH = "src/diagnostics/routes.ts";
const HEALTH_TESTS = ["test/diagnostics/health.test"];
const HTTP = "src/diagnostics/http";
const HTTP_TESTS = ["test/diagnostics/http"];
const DRIVER_SOCKET = "src/serving/driver-socket.ts";
const SERVING_TESTS = ["test/serving/driver-socket"];

/** Mutants of the HTTP endpoint, and of a driver that is served in this process. */
export const SERVING_MUTANTS: readonly Mutant[] = [
  {
    what: "of several drivers, a broken one has all of them restarted",
    file: HEALTH,
    from: 'answers.find(({ kind }) => kind === "ok") ?? ',
    to: "",
    tests: HEALTH_TESTS,
  },
  {
    what: "a node without drivers has its registrar restarted",
    file: HEALTH,
    from: '?? ({ kind: "ok" } as const)',
    to: '?? ({ kind: "missing", text: "" } as const)',
    tests: HEALTH_TESTS,
  },
  {
    what: "each probe that is well logs an error",
    file: HEALTH,
    from: 'log.v(5).info("Health check succeeded");',
    to: 'log.error(undefined, "Health check succeeded");',
    tests: HEALTH_TESTS,
  },
  {
    what: "a scrape that is being answered is closed for an idle connection's sake",
    file: "src/diagnostics/server.ts",
    from: "({ isAnswering }) => !isAnswering",
    to: "() => true",
    tests: HTTP_TESTS,
  },
  {
    what: "a client that waits for no answer is answered thousands of times",
    file: `${HTTP}/connection.ts`,
    from: "if (answering !== undefined || isLast) {",
    to: "if (Object.is(isLast, undefined)) {",
    tests: HTTP_TESTS,
  },
  {
    what: "a head without end fills the memory",
    file: `${HTTP}/connection.ts`,
    from: "if (isTooMuch || !mayBeRequest(received)) return void socket.destroy();",
    to: "if (!mayBeRequest(received)) return void socket.destroy();",
    tests: HTTP_TESTS,
  },
  {
    what: "a CPU profile goes on when nobody waits for it any more",
    file: `${HTTP}/connection.ts`,
    from: "    clearTimeout(deadline);\n    answering?.abort();\n",
    to: "    clearTimeout(deadline);\n",
    tests: [...HTTP_TESTS, "test/diagnostics/pprof"],
  },
  {
    what: "a driver's socket that was put back leaves the former listener open",
    file: DRIVER_SOCKET,
    from: "    socket.abandon();\n",
    to: "",
    tests: SERVING_TESTS,
  },
  {
    what: "another driver that lives loses its socket",
    file: DRIVER_SOCKET,
    from: "    if ((await tryConnect(path)) === undefined) {",
    to: "    if (Object.is(path, undefined)) {",
    tests: SERVING_TESTS,
  },
  {
    what: "a driver's socket that somebody removes is put back a minute later",
    file: DRIVER_SOCKET,
    from: "      await watch.wait(stop.signal, LOOK_EVERY_MS);\n",
    to: "      await new Promise((done) => setTimeout(done, 12 * LOOK_EVERY_MS));\n",
    tests: SERVING_TESTS,
  },
  {
    what: "the socket of a driver that took over is removed at the end",
    file: "src/unix/socket-file.ts",
    from: "      if (isInPlace()) rmSync",
    to: "      rmSync",
    tests: SERVING_TESTS,
  },
];
