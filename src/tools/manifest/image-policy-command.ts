import { attempt, invalidOption } from "../../base/errors";
import type { FlagValues } from "../../flags/grammar";
import { choicesFlag, listFlag, pairsFlag, switchFlag, textFlag } from "../../flags/kinds";
import { startProblemOf } from "../../flags/node-readiness";
import { type FlagName, flagTable, nearestFlag, parseFlags } from "../../flags/table";
import { parseBool } from "../../flags/values";
import { OLDEST_SUPPORTED_MINOR } from "../../kubelet-rules/versions";
import { print } from "../../runtime/print";
import { createCommand, EXIT_USAGE } from "../command-line";
import { parseOurImage } from "../recognise/program";
import { type AddedArgument, type MetricsPorts, RAISES } from "./image-policy/changes";
import { dropPolicy, IMAGE_POLICY_MINOR, swapPolicy } from "./image-policy/image-policy";
import { nodesFlag, objectFlags } from "./object-flags";
import { kubeletRootOf } from "./options";
import { streamOf } from "./template";

const flags = {
  "image-policy": switchFlag("this form of the command"),
  image: { ...textFlag("image of the registrar, with a tag or digest", parseOurImage), conflicts: "drop" },
  name: { ...textFlag("name of the policy"), defaultDescription: "registrar-image, or registrar-drop" },
  "kubernetes-version": textFlag("the cluster's version, before 1.36", parseMinor),
  namespace: listFlag("only this namespace's pods, repeatable"),
  nodes: nodesFlag("only pods of DaemonSets"),
  "match-image": listFlag("one more name of a registrar's image, its last part, repeatable"),
  arg: {
    ...listFlag("argument for registrars without that flag, repeatable, written --arg=--v=2"),
    conflicts: "drop",
  },
  "metrics-port": {
    ...pairsFlag("port for metrics: PORT; on the host's network host:NAMESPACE/NAME=PORT", parseMetricsPort),
    conflicts: "drop",
  },
  keep: { ...choicesFlag("what not to raise", RAISES), conflicts: "drop" },
  drop: switchFlag("take the registrars out of the pods, where manifest --node-wide has its own"),
  distribution: { ...objectFlags.distribution, implies: "drop" },
  "kubelet-root": { ...objectFlags["kubelet-root"], implies: "drop" },
} as const;

/** Whether the words have --image-policy, also with an invalid value, which this form of the command refuses. */
export const isImagePolicy = (argv: readonly string[]) =>
  argv.some((word) => {
    const [flag, text = "true"] = /^--?image-policy(?:=(.*))?$/s.exec(word) ?? [];
    return flag !== undefined && attempt(() => parseBool(text)) !== false;
  });

export const runImagePolicy = createCommand(
  {
    name: "manifest --image-policy",
    describe: "Writes a policy that swaps every chart's registrar, for kubectl apply -f -",
    flags,
    failureExitCode: EXIT_USAGE,
    examples: [
      "manifest --image-policy --image example.com/registrar:v1 --arg=--v=2 --namespace csi-nfs",
      "manifest --image-policy --drop",
    ],
    notes: [
      `Kubernetes 1.${IMAGE_POLICY_MINOR}, 1.${OLDEST_SUPPORTED_MINOR} with a feature gate. What it leaves alone: docs/charts.md#any-chart-by-one-policy.`,
      "With --nodes pods of Deployments stay as they are: only a DaemonSet's pod has its node at first.",
      "--metrics-port is repeatable; examples/podmonitor.yaml makes Prometheus find these ports.",
      "Exit codes: 0 written; 1 failed; 2 bad flag, or a name that the API server would refuse.",
    ],
  },
  async (values) => print(makeImagePolicy(values)),
);

/** The minor version in `1.36`, `v1.36.4` or `1.36.4+k3s1`. */
function parseMinor(version: string): number {
  const [, digits] = /^v?1\.(\d+)(?:[.+-]|$)/.exec(version) ?? [];
  if (digits === undefined)
    throw new Error(`"${version}" is not a version of Kubernetes: write 1.${OLDEST_SUPPORTED_MINOR}`);
  const minor = Number(digits);
  if (minor >= OLDEST_SUPPORTED_MINOR) return minor;
  throw new Error(`Kubernetes 1.${minor} is not supported: 1.${OLDEST_SUPPORTED_MINOR} is the oldest`);
}

const OWN_NETWORK = "a pod's own network";

/** `9809`, or `host:NAMESPACE/NAME=9810` for a DaemonSet or StatefulSet on the host's network. */
function parseMetricsPort(text: string): readonly [owner: string, port: number] {
  const [, owner = OWN_NETWORK, digits] = /^(?:host:([a-z0-9-]+\/[a-z0-9.-]+)=)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (!(port >= 1 && port <= 65_535))
    throw new Error(`"${text}" is not PORT, from 1 to 65535, or host:NAMESPACE/NAME=PORT`);
  return [owner, port];
}

/** Throws INVALID_OPTION for one port of two workloads: they may be on one node. */
function metricsPortsOf({ metricsPort }: FlagValues<typeof flags>): MetricsPorts | undefined {
  if (metricsPort === undefined) return undefined;
  const { [OWN_NETWORK]: port, ...host } = metricsPort;
  if (new Set(Object.values(host)).size < Object.keys(host).length)
    throw invalidOption(
      "--metrics-port gives one port to two workloads on the host's network: a node has it once",
    );
  return { port, host };
}

function makeImagePolicy(values: FlagValues<typeof flags>): string {
  const { image, drop, name, nodes, kubernetesVersion: minor } = values;
  const scope = {
    name,
    nodes,
    minor,
    namespaces: values.namespace ?? [],
    matchImages: values.matchImage ?? [],
  };
  if (drop) return streamOf(dropPolicy({ ...scope, root: kubeletRootOf(values) }));
  if (image === undefined)
    throw invalidOption("it needs --image, or --drop; see registrar manifest --image-policy --help");
  const args = sidecarArguments(values.arg ?? []);
  const metrics = metricsPortsOf(values);
  return streamOf(swapPolicy({ ...scope, image, args, metrics, keep: values.keep ?? [] }));
}

/** Flags that a policy for every driver cannot set. */
const NOT_FOR_ALL: readonly FlagName[] = [
  ...(["csi-address", "kubelet-registration-path", "plugin-registration-path", "node-name"] as const),
  ...(["driver-gone-after", "allow-drivers", "deny-drivers", "version", "mode"] as const),
  // These need rights that the pods may not have.
  ...(["remove-startup-taint", "node-condition"] as const),
];
/** Flags that exclude each other: with both the registrar does not start. */
const EXCLUDED: Readonly<Partial<Record<FlagName, readonly FlagName[]>>> = {
  "logging-format": ["vmodule"],
  vmodule: ["logging-format"],
};

/** Flags that containers may have: beside them the registrar checks more of the others' values. */
const BESIDE = ["--http-endpoint=:9809", "--node-condition={driver}/Registered"];

/** Parses the arguments of `--arg` as the sidecar does. Throws INVALID_OPTION for one, or for all together. */
function sidecarArguments(words: readonly string[]): readonly AddedArgument[] {
  const args = words.map(sidecarArgument);
  const names = args.map(({ unless: [name] }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw invalidOption(`--arg gives --${twice} more than once`);
  const all = parseFlags([...BESIDE, ...words]);
  const problem = all.kind === "flags" ? startProblemOf(all.flags) : undefined;
  if (problem !== undefined) throw invalidOption(`no registrar starts with these --arg: ${problem}`);
  return args;
}

function sidecarArgument(word: string): AddedArgument {
  const refuse = (why: string): never => {
    throw invalidOption(`--arg=${JSON.stringify(word)} ${why}`);
  };
  const line = parseFlags([word]);
  if (line.kind === "help") return refuse("would print the help in every registrar");
  if (line.kind === "error") {
    const near = nearestFlag(line.unknown);
    const hint = near === undefined ? "" : `; did you mean --${near}?`;
    return refuse(`is not an argument of the registrar: ${line.message}${hint}`);
  }
  const [name] = line.flags.given;
  if (line.flags.ignored.length > 0 || Object.hasOwn(flagTable.deprecated, name ?? ""))
    return refuse("has no effect, or is deprecated: leave it out");
  if (name === undefined) return refuse("is not a flag: write --arg=--FLAG=VALUE");
  if (NOT_FOR_ALL.includes(name)) return refuse("cannot be set for every driver of a cluster");
  if (name === "http-endpoint") return refuse("has a flag of its own: give --metrics-port");
  return { word, unless: [name, ...(EXCLUDED[name] ?? [])] };
}
