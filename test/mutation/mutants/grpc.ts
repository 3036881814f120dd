import { type Mutant, mutantsOf } from "../mutant";

/** Mutants of the gRPC server: who is let in, what each may use, and how it ends. */
export const GRPC_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/unix/connection-limit.ts", ["test/grpc/server/bounds"], {
    "of hundreds of clients in one moment kubelet, or its probe, is closed before it was read": [
      "setImmediate(() => setImmediate(trim));",
      "trim();",
      ["test/unix/connection-limit"],
    ],
    "the newest connection, which may be kubelet's, is closed at once": [
      "const others = [...open].slice(0, -1);",
      "const others = [...open].toReversed();",
    ],
    "clients may be any number": "    while (open.size > max && closeOne()) {}\n",
    "who is young stays, however many there are": [
      " || open.size > 2 * max",
      "",
      ["test/unix/connection-limit"],
    ],
    "kubelet's idle connection goes because the strangers are young": [
      "      if (victim === undefined && ofClass.length > 0) return false; // Rather than close one of the next class.\n",
      "",
      ["test/unix/connection-limit"],
    ],
    "nobody goes once all that are too many were young": [
      "    if (open.size > max) whenSettled = setTimeout(trim, settleMs).unref();\n",
      "",
      ["test/unix/connection-limit"],
    ],
  }),
  ...mutantsOf("src/grpc/server.ts", ["test/grpc/server/bounds"], {
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
      "      if (injector) injector.destroy();\n",
      "      if (injector) injector;\n",
      ["test/grpc/server/close"],
    ],
    "calls that run on keep a registrar from ending": [
      "startTimer(cut, graceMs)",
      "setTimeout(() => {}, graceMs)",
      ["test/grpc/server/close"],
    ],
    "calls on one connection may be any number": [
      '      "grpc.max_concurrent_streams": 4,\n',
      "",
      ["test/grpc/server/attacks.test"],
    ],
    "a connection kept by self-checks counts as kubelet's": [
      " && !isSelfCheck",
      "",
      ["test/registrar/registration/kept-check"],
    ],
    "a call of an unknown method that is reset at once ends the process": [
      "      if (stream.destroyed || stream.closed) return;\n",
      "",
      ["test/grpc/server/attacks.test"],
    ],
  }),
  ...mutantsOf("src/grpc/guard/call-allowance.ts", ["test/grpc/guard/call-allowance"], {
    "a call in many frames is a flood": ["!mayEnd || typeof before", "true || typeof before"],
    "who only begins calls counts as kubelet": [
      "    if (!endsRequest) return;\n",
      "",
      ["test/grpc/server/bounds"],
    ],
    "kubelet is closed after its two-hundredth call":
      "    if (endsCall || (type === FrameType.DATA && length > 0)) left = bounds.maxFrames;\n",
  }),
  ...mutantsOf("src/grpc/guard/guards.ts", ["test/grpc/server/bytes"], {
    "who asks and never reads fills the memory": "      if (isStuck) socket.pause();\n",
    "a client that read late is read from no more": "        else socket.resume();\n",
  }),
  ...mutantsOf("src/grpc/client/unary.ts", ["test/grpc/client/owned-connections"], {
    "a connection that grpc-js forgets keeps its descriptor":
      "      for (const socket of open) socket.destroy();\n",
    "a registrar that asks its driver cannot be closed under fake timers": [
      "      fail(...why);",
      "     ",
      ["test/registrar/registrar-lifecycle"],
    ],
  }),
];
