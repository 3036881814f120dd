import { type Mutant, mutantsOf } from "../mutant";

/** Mutants of the gRPC server: who is let in, what each may use, and how it ends. */
export const GRPC_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/unix/crowd.ts", ["test/grpc/server/bounds"], {
    "of hundreds of clients in one moment kubelet, or its probe, is closed before it was read": [
      "setImmediate(() => setImmediate(trim));",
      "trim();",
    ],
    "the newest connection, which may be kubelet's, is closed at once": [
      "      .slice(0, -1)\n",
      "      .toReversed()\n",
    ],
    "clients may be any number": "    while (open.size > max && closeOne()) {}\n",
    "who is young stays, however many there are": [" || open.size > 2 * max", "", ["test/unix/crowd"]],
    "nobody goes once all that are too many were young": [
      "    if (open.size > max) whenSettled = setTimeout(trim, settleMs).unref();\n",
      "",
      ["test/unix/crowd"],
    ],
  }),
  ...mutantsOf("src/grpc/server/server.ts", ["test/grpc/server/bounds"], {
    "a call of kubelet's is cut off though an idle connection could go":
      '      "oldest idle": ({ calls }) => calls.running() === 0,\n',
    "kubelet's idle connection goes though a stranger's could":
      '      "oldest silent": ({ calls }) => !calls.everCalled(),\n',
    "a kubelet that waits for our settings before it calls is closed for the next stranger":
      "    settleMs: SETTLE_MS,\n",
    "a second close cuts off what the first lets finish": [
      "closing ??= shutDown(graceMs);",
      "closing = shutDown(graceMs);",
      ["test/grpc/server/close"],
    ],
    "a close waits for idle clients until its time is over": [
      "    for (const connection of crowd.members) connection.leave();\n",
      "",
      ["test/grpc/server/close"],
    ],
    "calls that run on keep a registrar from ending": [
      "setTimeout(crowd.disperse, graceMs)",
      "setTimeout(() => {}, graceMs)",
      ["test/grpc/server/close"],
    ],
  }),
  ...mutantsOf("src/grpc/server/connection.ts", ["test/grpc/server/attacks"], {
    "a flood of frames that lead to no call goes on for as long as the client likes":
      "if (type !== FrameType.DATA || !calls.isRunning(streamId) || !bringsSomething) allowance.spend();",
    "a call in many frames is a flood": [
      "type !== FrameType.DATA || !calls.isRunning(streamId) || !bringsSomething",
      "true",
      ["test/grpc/server/bytes"],
    ],
    "a flood on a call that is running goes on for as long as the client likes": [
      "type !== FrameType.DATA || !calls",
      "!calls",
    ],
    "a flood on a call that has ended goes on for as long as the client likes": [
      "type !== FrameType.DATA || !calls.isRunning(streamId) || !bringsSomething",
      "type !== FrameType.DATA || !bringsSomething",
    ],
    "DATA frames of nothing go on for as long as the client likes": " || !bringsSomething",
    "who asks and never reads fills the memory": [
      "    if (socket.writableNeedDrain) socket.pause();\n",
      "",
      ["test/grpc/server/bytes"],
    ],
    "a client that read late is read from no more": [
      '  socket.on("drain", () => socket.resume());\n',
      "",
      ["test/grpc/server/bytes"],
    ],
    "a breach of HTTP/2 ends the process": [
      "      if (!(error instanceof RegistrarError)) throw error;\n      violation",
      "      if (error instanceof RegistrarError) throw error;\n      violation",
      ["test/grpc/server/server"],
    ],
    "a client that goes away leaves its calls running": [
      '  socket.on("close", () => calls.abort());\n',
      "",
      ["test/grpc/server/close"],
    ],
  }),
  ...mutantsOf("src/grpc/server/calls.ts", ["test/grpc/server/bytes"], {
    "kubelet is closed after its two-hundredth call": "    onAnswer();\n",
    "unfinished requests on one connection fill the memory": [
      "else if (unfinishedBytes() > SMALL_BYTES && unfinishedOfAll() > limits.maxMessageBytes)",
      "else if (unfinishedBytes() < 0)",
    ],
    "calls on one connection may be any number": [
      "isClosed || running.size >= limits.maxConcurrentStreams",
      "isClosed",
      ["test/grpc/server/attacks.test", "test/grpc/server/server.test"],
    ],
    "a call is taken after the goodbye, and cut off": [
      "isClosed || running.size >=",
      "running.size >=",
      ["test/grpc/server/close", "test/grpc/server/violations"],
    ],
    "who only begins calls counts as kubelet": [
      "    everCalled = true;\n    const metadata",
      "    const metadata",
      ["test/grpc/server/bounds"],
    ],
    "a client that sends much is never given room again": [
      "        write(encodeNumberFrame(FrameType.WINDOW_UPDATE, 0, received));\n",
      "",
      ["test/grpc/server/bytes", "test/grpc/server/attacks.test"],
    ],
  }),
  ...mutantsOf("src/grpc/client/owned-connections.ts", ["test/grpc/client/owned-connections"], {
    "a connection that grpc-js forgets keeps its descriptor":
      "      for (const socket of open) socket.destroy();\n",
  }),
];
