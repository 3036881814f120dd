import { flagTable } from "../../src/flags/table";
import { OLDEST_SUPPORTED_MINOR } from "../../src/kubelet-rules/versions";
import { IMAGE_POLICY_MINOR } from "../../src/tools/manifest/image-policy/image-policy";
import { allVersions, BETAS } from "../kubelet/support/versions";
import { NODE_LINES } from "../support/nodes";
import { readText, SOURCE } from "./markdown";

// Where the numbers of pages come from: constants of `src`, files of the project, and facts about other programs with their source.

/** A number that one place of the source or of the project has. */
export function found(pattern: RegExp, text = SOURCE): string {
  const values = new Set(Array.from(text.matchAll(new RegExp(pattern, "gm")), ([, value = ""]) => value));
  if (values.size !== 1) throw new Error(`${pattern} has ${values.size} values: a page needs one`);
  return [...values].join();
}

export const FAILURE = found(/const EXIT_FAILURE = (\d+);/);
export const USAGE = found(/const EXIT_USAGE = (\d+);/);
export const SIGTERM = found(/const EXIT_SIGTERM = (\d+);/);
export const [SIGINT, DOCTOR_SIGTERM] = [found(/(\d+) Ctrl-C;/), found(/Ctrl-C; (\d+) SIGTERM/)];
export const HEALTHY = found(/textAnswer\((\d+), "ok"\)/);
export const NO_SOCKET = found(/textAnswer\((\d+), failure\.text\)/);
export const NO_PAGE = found(/textAnswer\((\d+), "\d+ page not found/);
export const UNHEALTHY = found(/textAnswer\((\d+), escapeUnprintable\(failure/);
export const READY = found(/textAnswer\(report\.passed \? (\d+)/);
export const UNREADY = found(/textAnswer\(report\.passed \? \d+ : (\d+)/);
export const LARGE_HEAD = found(/HEAD_TOO_LARGE = textAnswer\((\d+)/);
export const SOCKET_MODE = `0${found(/chmod\(dotPath, 0o(\d+)\)/)}`;
export const REGISTRATION_API = found(/if \(!\(minor >= (\d+)\)\) return undefined/);

export const OLDEST = `1.${OLDEST_SUPPORTED_MINOR}`;
export const POLICIES = `1.${IMAGE_POLICY_MINOR}`;
export const [OLDEST_NODE = ""] = NODE_LINES;
export const NODES = `${NODE_LINES.slice(0, -1).join(", ")} and ${NODE_LINES.at(-1)}`;
export const IMAGE_NODE = found(/^ARG BUILD_IMAGE=node:(\d+)-/, readText("Dockerfile"));
export const KUBELETS = allVersions();
export const BETA = Object.keys(BETAS).join();
export const STORAGE = found(/kubernetes: \[(.*)\]/, readText(".github/workflows/upkeep.yml")).split(", ");
export const HOSTILE = found(/connections: \d+, atOnce: (\d\d\d),/, readText("bench/hostile/index.ts"));
/** How the table of failures was played. */
export const AT_ONCE = found(/(\d+) plays at a time/, readText("docs/measurements.md"));
export const ATTACKS = readText("test/process/attacks.test.ts");
export const PROBE_TIMEOUT = found(/timeoutSeconds: (\d+)/, readText("examples/daemonset.yaml"));

/** The official registrar, as it was compared (kubernetes-csi/node-driver-registrar: the changelogs of these releases). */
export const OFFICIAL = {
  first: "v1.0",
  flagsRemoved: "v2.11",
  idleProbe: "v2.9",
  compared: "v2.17",
  next: "v2.18",
};
/** When its v2.18 came, and when Node 20's own support ended (nodejs/Release, schedule.json). */
export const [OFFICIAL_NEXT_CAME, NODE_20_ENDED] = ["September 2026", "April 2026"];
/** Node that a call which hangs in a file system keeps from ending, and Node that leaks descriptors of HTTP/2. */
export const NODE = { exits: "22.15", exitsNot: ["23.0", "23.10"], leaks: ["20.20", "24.9"] };
export const STORAGE_NODE = found(
  /load [\d.]+ at the end\), Node (20\.\d+)\.\d+ in our image\.$/,
  readText("bench/NOTES.md"),
);
/** An older grpc-js, and the Node that it ran with. */
export const BY_HAND = { grpc: "1.13.7", nodes: "20.20 and 26.12" };
/** moby/moby: BuildKit by default and layers in zstd; containerd/containerd: layers in zstd. */
export const ZSTD = { docker: "23", containerd: "1.5" };
/** API servers that `npm run test:api-server` ran on, and kubelets whose managers of DRA drivers the tests ran. */
export const PLAYED = { policies: "1.34.1, 1.35.4, 1.36.3 and 1.37.2", dra: "1.34.1, 1.36.3 and 1.37.2" };
/** npm's newest Node for ppc64le and s390x. */
export const EMULATED_NODE = found(
  /node-linux-\$ARCHITECTURE@(\d+\.\d+)\./,
  readText(".github/workflows/weekly.yml"),
);
/** Kubernetes, where not named otherwise: kubernetes/kubernetes. */
export const KUBE = {
  /** pkg/features/kube_features.go, VolumeLimitScaling: alpha, and on. Cluster Autoscaler: `--enable-csi-node-aware-scheduling`. */
  scaling: { alpha: "1.35", on: "1.37" },
  /** pkg/volume/csi/nodeinfomanager: it keeps the UID of a Node. */
  keepsUid: ["1.35", "1.37"],
  asksAnew: "1.38",
  /** pkg/kubelet/pluginmanager/operationexecutor: a failure is tried again from the next one on. */
  reportsOnce: "1.35",
  retries: "1.36",
  /** pkg/volume/csi/csi_client.go: `localhost` from 1.26 on. */
  driverPath: ["1.25", "1.26"],
  /** Its grpc-go, in go.mod: before 1.57 the raw path. */
  rawPath: ["1.28", "1.29"],
  encodedPath: "1.57",
  /** MutableCSINodeAllocatableCount: in 1.34 behind its gate. */
  updatesLimits: ["1.35", "1.34"],
  /** DynamicResourceAllocation is on. */
  dra: "1.34",
  /** Its plugin manager knows an old and a new pod of a DRA driver (kubernetes#129832); gogo/protobuf read texts. */
  draPods: "1.33",
  gogo: "1.33",
  /** Which service of a device's health it calls (kubernetes#141855). */
  picksHealth: ["1.36", "1.37"],
  /** kubernetes/enhancements, KEP-4958. */
  allInOne: "1.38",
};

export const LEAST = found(/LEAST = \{[^}]*memory: "(\w+)"/);
export const ENOUGH = found(/ENOUGH = \{[^}]*memory: "(\w+)"/);
export const PROBE = `periodSeconds: 20 timeoutSeconds: ${PROBE_TIMEOUT} failureThreshold: 3`;
export const REFUSED = {
  first: Number(found(/ refused: \{ initialMs: (\d+)_000,/)),
  last: Number(found(/ refused: \{ initialMs: \d+_000, maxMs: (\d+)_000,/)),
};
/** The nodes of the cluster in docs/charts.md. */
export const EXAMPLE_NODES = 40;
const cell = (value: string) => (value === "" ? "none" : `\`${value}\``);
/** The rows of flags whose defaults have a digit: facts.test.ts compares them all. */
export const defaults = (...tables: readonly object[]) =>
  tables
    .flatMap((rows) => Object.entries(rows as Record<string, { readonly default: string }>))
    .filter(([, row]) => /\d/.test(row.default))
    .map(([name, row]) => `| \`--${name}\` | ${cell(row.default)} |`);
export const { dropIn, ours, deprecated } = flagTable;
