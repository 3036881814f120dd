import { type Mutant, mutantsOf } from "../mutant";

const AT = "test/tools/doctor/cluster";
const CLUSTER = ["report", "whole-report"].map((name) => `${AT}/${name}`);

/** Mutants of what doctor reads from sockets and API servers, and of the client that node readiness shares with it. */
export const DOCTOR_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/tools/doctor/cluster/judge/registrations.ts", CLUSTER, {
    "a registrar that its liveness probe ends gets no hint of the probe": [" || exitCode === 143", ""],
  }),
  ...mutantsOf("src/tools/doctor/cluster/judge/places.ts", [`${AT}/unread`, `${AT}/ordinary`], {
    "without DaemonSets a driver has no registrar": [
      "if (missing !== undefined) return unseen(missing);\n  const [guess]",
      "const [guess]",
    ],
    "without Nodes a driver on one that is away is a problem": ["if (nodes === undefined)", "if (false)"],
    "two pods of a DaemonSet that is rolled out are a duplicate": [
      "[one.unit?.registrar.place, one.pod?.name]",
      "[one.pod?.name, one.pod?.name]",
    ],
    "a pod that is replaced is missed at once": ["  if (isReplaced || isNew) return", "  if (isNew) return"],
    "a DaemonSet that was just applied lacks its pods": ["  if (isReplaced || isNew)", "  if (isReplaced)"],
    "a node that joins lacks its pods": ["return isYoung(row, nowMs) ?", "return false ?"],
  }),
  ...mutantsOf("src/tools/doctor/cluster/judge/needs.ts", [`${AT}/unread`, `${AT}/ordinary`], {
    "a Node that was just created again is a problem": [
      "node.isReady && !isYoung(node, nowMs)",
      "node.isReady",
    ],
    "pods that are not created on a new node are a problem": [
      "some((node) => isYoung(node, nowMs))",
      "some(() => false)",
    ],
  }),
  ...mutantsOf("src/tools/doctor/cluster/judge/units.ts", [`${AT}/driver-names`], {
    "a name inside another name is the driver's": [
      "const segments = socketPathsOf(registrar).flatMap((path) => path.split(/[/\\\\]/));",
      "const segments = [...known].filter((one) => socketPathsOf(registrar).some((path) => path.includes(one)));",
    ],
  }),
  ...mutantsOf("src/tools/doctor/cluster/read/pod.ts", [...CLUSTER, `${AT}/ordinary`], {
    "restarts of an hour ago are a problem of now": ["SHORT_AGO_MS = 10 *", "SHORT_AGO_MS = 100 *"],
    "a container that ended well counts as one that fails": ["exitCode !== 0", "true"],
    "a pod that was just made is reported": [
      "containers.length === 0 && quietMs >= CREATION_MS",
      "containers.length === 0",
    ],
    "a pod that is being deleted counts": [
      "leftMs >= CREATION_MS) return undefined",
      "leftMs < 0) return undefined",
    ],
    "a third reboot is instability": ["if (endedWithNode(mains)) return undefined;", ""],
    "an evicted pod counts": ['status.phase === "Failed" ||', ""],
    "kubelet's event about a volume is dropped": [
      "mountFailure === undefined) return pod",
      "true) return pod",
    ],
  }),
  ...mutantsOf("src/tools/doctor/cluster/read/list-api.ts", [`${AT}/api`], {
    "a server that says so makes doctor wait for an hour": [
      "Math.min(retryMs(failure, attempt), MAX_WAIT_MS)",
      "retryMs(failure, attempt)",
    ],
    "a busy server is asked without end": " || attempt === RETRIES",
    "one page that fails throws the list away": ["!mayPass(failure) ||", "true ||"],
    "a list that expired on its way is not begun again": ["restart === RESTARTS", "true"],
    "a list that expired on its way is read as if it were whole": [
      'answer.failure?.kind === "expired" && next !== undefined',
      'answer.failure?.kind === "expired"',
    ],
    "an endless list is read on": ["spent > MAX_BYTES * scale", "false"],
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
