import { type Mutant, mutantsOf } from "../mutant";

/** Mutants of what holds the parts together: the process, the client of the API server, and the keepers of the node. */
export const GLUE_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/kube-api/client.ts", ["test/kube-api/client"], {
    "NODE_TLS_REJECT_UNAUTHORIZED=0 gives the token to whoever stands in the API server's place":
      "        rejectUnauthorized: true,\n",
    "the token goes over TLS 1.1": '        minVersion: "TLSv1.2" as const,\n',
    "an API server that is gone without a word keeps its watch for hours":
      "        response.socket.setKeepAlive(true, KEEP_ALIVE_AFTER_MS);\n",
    "a request that is not answered is waited for 10 minutes": [
      "CALL_TIMEOUT_MS = 10_000;",
      "CALL_TIMEOUT_MS = 600_000;",
    ],
  }),
  ...mutantsOf("src/diagnostics/http/connection.ts", ["test/diagnostics/http/connection"], {
    "a client that sends nothing keeps its place": [
      "HEAD_WITHIN_MS = 10_000;",
      "HEAD_WITHIN_MS = 1_000_000;",
    ],
    "a scraper that left without a word keeps its place": [
      "NEXT_WITHIN_MS = 75_000;",
      "NEXT_WITHIN_MS = 7_500_000;",
    ],
    "a scraper is cut off between two requests": ["NEXT_WITHIN_MS = 75_000;", "NEXT_WITHIN_MS = 7_500;"],
    "a client that never closes its side keeps its place": ["LINGER_MS = 1_000;", "LINGER_MS = 1_000_000;"],
  }),
  ...mutantsOf("src/runtime/termination-log.ts", ["test/runtime/termination-log"], {
    "a file is made where kubelet made none": "    if (!create) truncateSync(path);\n",
    "kubelet gets no reason, because it is too long": ".subarray(0, MAX_BYTES - 1)",
  }),
  ...mutantsOf("src/node-readiness/taint-keeper.ts", ["test/node-readiness/taint-keeper"], {
    "a taint for which clients compete is patched 500 times at once": [
      "TRIES_AT_ONCE = 5;",
      "TRIES_AT_ONCE = 500;",
    ],
  }),
  ...mutantsOf("src/node-readiness/csi-node-keeper.ts", ["test/node-readiness/csi-node-keeper"], {
    "a driver whose CSINode belongs to a deleted Node is registered again every minute": [
      "orphanMs: 60 * 60_000,",
      "orphanMs: 60_000,",
    ],
    "a CSINode that the garbage collector removes at once is never seen": [
      "Object.assign(memory, { lacking: undefined, lookAt: now });",
      "memory.lacking = undefined;",
    ],
    "a Node that was made again is noticed minutes later": [
      "isReplaced ? now + pace.graceMs : (nextLookAt ?? afterLeisure(now))",
      "nextLookAt ?? afterLeisure(now)",
    ],
  }),
];
