import { type Mutant, mutantsOf } from "../mutant";

const CLUSTER = ["test/tools/doctor/cluster/report", "test/tools/doctor/cluster/whole-report"];

/** Mutants of what doctor reads from sockets and API servers, and of the client that node readiness shares with it. */
export const DOCTOR_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/tools/doctor/cluster/judge/registrations.ts", CLUSTER, {
    "a registrar that its liveness probe ends gets no hint of the probe": [" || exitCode === 143", ""],
  }),
  ...mutantsOf("src/tools/doctor/cluster/read/pod.ts", CLUSTER, {
    "restarts of an hour ago are a problem of now": ["SHORT_AGO_MS = 10 *", "SHORT_AGO_MS = 100 *"],
    "a container that ended well counts as one that fails": ["exitCode !== 0", "true"],
    "a pod that was just made is reported": ["quietMs >= CREATION_MS", "true"],
    "a pod that is being deleted counts": ["  if (deletionTimestamp !== undefined) return undefined;\n", ""],
  }),
  ...mutantsOf("src/tools/doctor/cluster/read/list-api.ts", ["test/tools/doctor/cluster/api"], {
    "a server that says so makes doctor wait for an hour": [
      "Math.min(retryAfterMs, MAX_WAIT_MS * scale)",
      "retryAfterMs",
    ],
    "a busy server is asked without end": " || tried === TRIES",
    "a list that expired on its way is read as if it were whole": [
      'answer.failure?.kind === "expired" && next !== undefined',
      'answer.failure?.kind === "expired"',
    ],
    "an endless list is read on": ["ownSpent > maxBytes * scale", "false"],
  }),
  ...mutantsOf("src/tools/doctor/node/read/calls.ts", ["test/tools/doctor/node"], {
    "a driver whose NodeGetInfo is slow counts as one that fails": [
      "NODE_GET_INFO_FACTOR = 10",
      "NODE_GET_INFO_FACTOR = 1",
    ],
    "doctor's look counts as kubelet's call": [', metadata: { [SELF_CHECK_KEY]: "1" }', ""],
    "each look leaves a connection behind": ["    client.close();\n", ""],
  }),
  ...mutantsOf("src/kube-api/client.ts", ["test/kube-api"], {
    "an API server that does not answer is waited for": [
      "CALL_TIMEOUT_MS = 10_000",
      "CALL_TIMEOUT_MS = 10_000_000",
    ],
    "each request leaves a listener on the caller's signal": ["      limit[Symbol.dispose]();\n", ""],
  }),
];
