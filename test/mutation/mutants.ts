/** A small wrong change of the product that the tests must notice. */
export interface Mutant {
  /** What a user would suffer. */
  readonly what: string;
  readonly file: string;
  /** Stands in the file once, so that a change of the code is noticed here. */
  readonly from: string;
  readonly to: string;
  /** Beginnings of the paths of the tests that are to notice. */
  readonly tests: readonly string[];
}

const SOCKET = "src/registrar/registration/registration-socket.ts";
const SOCKET_TESTS = ["test/registrar/registration/registration-socket"];
const PRESENCE = "src/registrar/driver/driver-presence.ts";
const PRESENCE_TESTS = ["test/registrar/driver/driver-presence"];
const STATES = "src/registrar/registration/states";
const STATE_TESTS = "test/registrar/registration/states";
const NODE_WIDE = "src/registrar/node-wide/start-node-registrar.ts";
const NODE_WIDE_TESTS = [
  "test/registrar/node-wide/start-node-registrar",
  "test/registrar/node-wide/driver-changes",
  "test/registrar/node-wide/departures",
];
const HTTP = "src/diagnostics/http";
const CROWD = "src/sockets/crowd.ts";
const HTTP_TESTS = ["test/diagnostics/http"];

/** Mutants of the files that live on sockets, where a tool that mutates at random would mostly make tests wait. */
export const MUTANTS: readonly Mutant[] = [
  {
    what: "each publication leaves a listener open",
    file: SOCKET,
    from: "      published?.server.close();\n",
    to: "",
    tests: SOCKET_TESTS,
  },
  {
    what: "two visible sockets of one driver after a rename",
    file: SOCKET,
    from: "if (published?.path !== path) withdraw();",
    to: "",
    tests: SOCKET_TESTS,
  },
  {
    what: "of two registrars that find one dead socket, both replace it",
    file: SOCKET,
    from: "return isSameSocket(judged, now);",
    to: "return true;",
    tests: [...SOCKET_TESTS, "test/registrar/registration/rivals"],
  },
  {
    what: "another registrar's socket is removed at the end",
    file: SOCKET,
    from: 'if (typeof found === "string" || !isSameFile(found, stats)) return;',
    to: 'if (typeof found === "string") return;',
    tests: SOCKET_TESTS,
  },
  {
    what: "a registrar that has bound and does not listen yet is taken for dead",
    file: SOCKET,
    from: "    await delay(LISTENS_WITHIN_MS);\n",
    to: "",
    tests: ["test/registrar/registration/slow-listener"],
  },
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
    what: "the end of a peer that sends something is not seen",
    file: `${STATES}/standby.ts`,
    from: "      connection.resume();",
    to: "",
    tests: [`${STATE_TESTS}/standby`],
  },
  {
    what: "a killed peer is noticed seconds later",
    file: `${STATES}/standby.ts`,
    from: '      connection.on("close", watch.hint);\n',
    to: "",
    tests: [`${STATE_TESTS}/standby`],
  },
  {
    what: "a peer that hangs up is knocked at without end",
    file: `${STATES}/standby.ts`,
    from: "if (heldMs < HOLD_AT_LEAST_MS) await pause(HOLD_AT_LEAST_MS - heldMs, signal);",
    to: "",
    tests: [`${STATE_TESTS}/standby`],
  },
  {
    what: "kubelet's registration is broken while it runs",
    file: `${STATES}/in-place.ts`,
    from: "if (!isKubeletBusy(state, context))",
    to: "if (Object.is(state, state))",
    tests: [`${STATE_TESTS}/in-place`],
  },
  {
    what: "a slow restart of kubelet makes a registered socket move",
    file: `${STATES}/listening.ts`,
    from: "!facts.foundDeadSocket || facts.everRegistered || facts.hasMoved",
    to: "!facts.foundDeadSocket || facts.hasMoved",
    tests: [`${STATE_TESTS}/listening`],
  },
  {
    what: "the socket moves again and again",
    file: `${STATES}/listening.ts`,
    from: "!facts.foundDeadSocket || facts.everRegistered || facts.hasMoved",
    to: "!facts.foundDeadSocket || facts.everRegistered",
    tests: [`${STATE_TESTS}/listening`],
  },
  {
    what: "dot-sockets of killed registrars stay for ever",
    file: `${STATES}/publishing.ts`,
    from: "if (isFirst) void sweepDotSockets(pluginRegistrationPath);",
    to: "if (isFirst && Object.is(pluginRegistrationPath, undefined)) void sweepDotSockets(pluginRegistrationPath);",
    tests: [`${STATE_TESTS}/publishing`],
  },
  {
    what: "the name under which kubelet knows the driver is not found",
    file: `${STATES}/publishing.ts`,
    from: "await findAlias(pluginRegistrationPath,",
    to: 'await findAlias(pluginRegistrationPath + "-",',
    tests: [`${STATE_TESTS}/publishing`, `${STATE_TESTS}/listening`, "test/registrar/registration/alias"],
  },
  {
    what: "a driver that came back before its retry has two registrars, one of which nobody closes",
    file: NODE_WIDE,
    from: "    clearTimeout(former?.timer);\n",
    to: "",
    tests: NODE_WIDE_TESTS,
  },
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
    from: "      if ((await tryConnect(member.csiAddress)) === undefined) return;\n",
    to: "",
    tests: NODE_WIDE_TESTS,
  },
  {
    what: "header fields of an exactly full table are forgotten",
    file: "src/grpc/hpack/decoder.ts",
    from: "while (bytes > target)",
    to: "while (bytes >= target && bytes > 0)",
    tests: ["test/grpc/hpack"],
  },
  {
    what: "of two that find one dead socket both replace it, where the inode's number is used again",
    file: "src/sockets/files.ts",
    from: "return isSameFile(one, other) && one.mtimeMs === other.mtimeMs;",
    to: "return isSameFile(one, other);",
    tests: ["test/sockets", ...SOCKET_TESTS],
  },
  {
    what: "of hundreds of clients in one moment a probe is closed before it was read",
    file: CROWD,
    from: "setImmediate(() => setImmediate(trim));",
    to: "trim();",
    tests: HTTP_TESTS,
  },
  {
    what: "HTTP clients may be any number",
    file: CROWD,
    from: "while (open.size > max) closeOne();",
    to: "",
    tests: HTTP_TESTS,
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
    what: "of hundreds of clients in one moment kubelet is closed before it was read",
    file: CROWD,
    from: "setImmediate(() => setImmediate(trim));",
    to: "trim();",
    tests: ["test/grpc/acceptor-bounds"],
  },
];
