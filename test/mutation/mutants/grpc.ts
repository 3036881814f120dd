import type { Mutant } from "../mutant";

const ACCEPTOR = "src/grpc/acceptor.ts";
const CROWD = "src/sockets/crowd.ts";
const CONNECTION = "src/grpc/client-connection.ts";
const CALLS = "src/grpc/server-calls.ts";

/** Mutants of the gRPC server: who is let in, what each may use, and how it ends. */
export const GRPC_MUTANTS: readonly Mutant[] = [
  {
    what: "of hundreds of clients in one moment kubelet, or its probe, is closed before it was read",
    file: CROWD,
    from: "setImmediate(() => setImmediate(trim));",
    to: "trim();",
    tests: ["test/grpc/acceptor-bounds"],
  },
  {
    what: "a call of kubelet's is cut off though an idle connection could go",
    file: ACCEPTOR,
    from: '      "oldest idle": ({ calls }) => calls.running === 0,\n',
    to: "",
    tests: ["test/grpc/acceptor-bounds"],
  },
  {
    what: "kubelet's idle connection goes though a stranger's could",
    file: ACCEPTOR,
    from: '      "oldest silent": ({ calls }) => !calls.everCalled,\n',
    to: "",
    tests: ["test/grpc/acceptor-bounds"],
  },
  {
    what: "the newest connection, which may be kubelet's, is closed at once",
    file: CROWD,
    from: "[...open].slice(0, -1)",
    to: "[...open].reverse()",
    tests: ["test/grpc/acceptor-bounds"],
  },
  {
    what: "clients may be any number",
    file: CROWD,
    from: "    while (open.size > max) closeOne();\n",
    to: "",
    tests: ["test/grpc/acceptor-bounds"],
  },
  {
    what: "a second close cuts off what the first lets finish",
    file: ACCEPTOR,
    from: "closing ??= shutDown(graceMs);",
    to: "closing = shutDown(graceMs);",
    tests: ["test/grpc/acceptor-close"],
  },
  {
    what: "a close waits for idle clients until its time is over",
    file: ACCEPTOR,
    from: "    for (const connection of crowd.members) connection.leave();\n",
    to: "",
    tests: ["test/grpc/acceptor-close"],
  },
  {
    what: "calls that run on keep a registrar from ending",
    file: ACCEPTOR,
    from: "setTimeout(crowd.disperse, graceMs)",
    to: "setTimeout(() => {}, graceMs)",
    tests: ["test/grpc/acceptor-close"],
  },
  {
    what: "who asks and never reads fills the memory",
    file: CONNECTION,
    from: "    if (socket.writableNeedDrain) socket.pause();\n",
    to: "",
    tests: ["test/grpc/acceptor-bytes"],
  },
  {
    what: "a client that read late is read from no more",
    file: CONNECTION,
    from: '  socket.on("drain", () => socket.resume());\n',
    to: "",
    tests: ["test/grpc/acceptor-bytes"],
  },
  {
    what: "a breach of HTTP/2 ends the process",
    file: CONNECTION,
    from: "      if (!(error instanceof RegistrarError)) throw error;\n      violation",
    to: "      if (error instanceof RegistrarError) throw error;\n      violation",
    tests: ["test/grpc/acceptor"],
  },
  {
    what: "a client that goes away leaves its calls running",
    file: CONNECTION,
    from: '  socket.on("close", () => calls.abort());\n',
    to: "",
    tests: ["test/grpc/acceptor-close"],
  },
  {
    what: "unfinished requests on one connection fill the memory",
    file: CALLS,
    from: "else if (bytes > limits.maxMessageBytes) fail",
    to: "else if (bytes < 0) fail",
    tests: ["test/grpc/acceptor-bytes"],
  },
  {
    what: "calls on one connection may be any number",
    file: CALLS,
    from: "isClosed || running.size >= limits.maxConcurrentStreams",
    to: "isClosed",
    tests: ["test/grpc/attacks.test", "test/grpc/acceptor.test"],
  },
  {
    what: "a call is taken after the goodbye, and cut off",
    file: CALLS,
    from: "isClosed || running.size >=",
    to: "running.size >=",
    tests: ["test/grpc/acceptor-close", "test/grpc/violations"],
  },
  {
    what: "who only begins calls counts as kubelet",
    file: CALLS,
    from: "    everCalled = true;\n    const metadata",
    to: "    const metadata",
    tests: ["test/grpc/acceptor-bounds"],
  },
  {
    what: "a client that sends much is never given room again",
    file: CALLS,
    from: "        write(encodeNumberFrame(FrameType.WINDOW_UPDATE, 0, received));\n",
    to: "",
    tests: ["test/grpc/acceptor-bytes", "test/grpc/attacks.test"],
  },
  {
    what: "a connection that grpc-js forgets keeps its descriptor",
    file: "src/grpc/owned-connections.ts",
    from: "      for (const socket of open) socket.destroy();\n",
    to: "",
    tests: ["test/grpc/owned-connections"],
  },
];
