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
  ...mutantsOf("src/diagnostics/server.ts", ["test/diagnostics/server"], {
    "a port that is taken is tried again too late for the first probes": [
      "BIND_RETRY_MS = 5_000;",
      "BIND_RETRY_MS = 500_000;",
    ],
  }),
  ...mutantsOf("src/runtime/signals.ts", ["test/end-to-end/stopping"], {
    "a command that a signal ends has exit code 0": ["128 + constants.signals[name]", "0"],
    "a second signal ends nothing":
      "      if (controller.signal.aborted) return void setTimeout(endProcess, REMOVED_WITHIN_MS, 0);\n",
    "a signal that ends any process leaves the socket behind": ['"SIGHUP", "SIGUSR2"]', '"SIGHUP"]'],
    "a SIGTERM while Node starts is forgotten": ["if (process.pid !== 1) return false;", "return false;"],
  }),
  ...mutantsOf("src/cli/main.ts", ["test/end-to-end/stopping"], {
    "a signal in a command's first moments kills it": ["endOnSignals();\nmain(", "main("],
  }),
  ...mutantsOf("src/runtime/termination-log.ts", ["test/runtime/termination-log"], {
    "a file is made where kubelet made none": "    if (!create) truncateSync(path);\n",
    "kubelet gets no reason, because it is too long": ".subarray(0, MAX_BYTES - 1)",
  }),
  ...mutantsOf("src/base/backoff.ts", ["test/base/backoff"], {
    "a busy API server is asked again by all nodes in one moment": [
      "apiServer: { initialMs: 500, maxMs: 30_000, jitter: 0.5 }",
      "apiServer: { initialMs: 500, maxMs: 30_000 }",
    ],
  }),
  ...mutantsOf("src/node-readiness/node-watch.ts", ["test/node-readiness/watch-pace"], {
    "all nodes begin their watches anew in the moment in which an API server stops": [
      "pace.spreadMs * random() + more",
      "pace.spreadMs + more",
    ],
    "the watches of all nodes end together, hour after hour": ["(1 + random())", "2"],
    "all nodes come back in step to an API server that was away": [
      "maxMs: 30_000, jitter: 1 }",
      "maxMs: 30_000 }",
    ],
  }),
  ...mutantsOf("src/node-readiness/condition-keeper.ts", ["test/node-readiness/condition-keeper"], {
    "that CSINode lists a driver again is seen a quarter of an hour later": [
      "LOOK_AGAIN_MS = 10_000;",
      "LOOK_AGAIN_MS = 1_000_000;",
    ],
  }),
  ...mutantsOf("src/node-readiness/taint-keeper.ts", ["test/node-readiness/taint-keeper"], {
    "a taint for which clients compete is patched 500 times at once": [
      "TRIES_AT_ONCE = 5;",
      "TRIES_AT_ONCE = 500;",
    ],
  }),
  ...mutantsOf("src/node-readiness/csi-node-keeper.ts", ["test/node-readiness/csi-node-keeper"], {
    "nodes that start together read CSINode together": [
      "(pace.lookEveryMs / 2) * (1 + random())",
      "pace.lookEveryMs",
    ],
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
