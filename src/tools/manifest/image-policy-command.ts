import { attempt, invalidOption } from "../../base/errors";
import type { CommandFlag } from "../../flags/command-flags";
import type { FlagValues } from "../../flags/grammar";
import { choiceFlag, choicesFlag, listFlag, pairsFlag, switchFlag, textFlag } from "../../flags/kinds";
import { startProblemOf } from "../../flags/node-readiness";
import { type FlagName, flagTable, nearestFlag, parseFlags } from "../../flags/table";
import { parseBool } from "../../flags/values";
import { OLDEST_SUPPORTED_MINOR } from "../../kubelet-rules/versions";
import { parseTargets } from "../../node-readiness/options";
import { print } from "../../runtime/print";
import { createCommand, EXIT_USAGE } from "../command-line";
import { parseOurImage } from "../recognise/program";
import { type AddedArgument, type MetricsPorts, RAISES } from "./image-policy/changes";
import { dropPolicy, IMAGE_POLICY_MINOR, swapPolicy } from "./image-policy/image-policy";
import { refuseFlag } from "./names";
import { readinessArguments } from "./node-access";
import { objectFlags } from "./object-flags";
import { makeNodeWideManifests } from "./objects";
import { streamOf } from "./template";

const forDrop = <Row extends CommandFlag>(row: Row) =>
  ({ ...row, describe: `with --drop: ${row.describe}`, implies: "drop" }) as const;

const flags = {
  "image-policy": switchFlag("this form of the command"),
  image: { ...textFlag("image of the registrar, with a tag or digest", parseOurImage), required: true },
  name: { ...textFlag("name of the policy"), defaultDescription: "registrar-image, or registrar-drop" },
  "kubernetes-version": textFlag("the cluster's version, before 1.36", parseMinor),
  namespace: listFlag("only this namespace's pods, repeatable"),
  "namespace-label": textFlag("only namespaces with this label: KEY, KEY=VALUE"),
  nodes: textFlag(
    "only pods of DaemonSets on these nodes, with commas, or as kubectl get nodes -o name lists them",
  ),
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
  "startup-taint": objectFlags["startup-taint"],
  "node-condition": objectFlags["node-condition"],
  drop: switchFlag("take the registrars out of the pods, with one registrar for the whole node"),
  include: {
    ...choiceFlag("which file of --drop; daemonset comes first, and goes last", ["daemonset", "policy"]),
    implies: "drop",
  },
  distribution: forDrop(objectFlags.distribution),
  "kubelet-root": forDrop(objectFlags["kubelet-root"]),
  "http-port": forDrop(objectFlags["http-port"]),
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
      "manifest --image-policy --image example.com/registrar:v1 --drop --include=daemonset",
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

/** In their order, each once, so that two runs write the same. */
function nodesOf(list: string): readonly string[] {
  const nodes = new Set(list.split(/[\s,]+/).map((word) => word.replace(/^node\//, "")));
  nodes.delete("");
  return nodes.size > 0 ? [...nodes].sort() : refuseFlag("nodes", list, "has no name of a node");
}

function makeImagePolicy(values: FlagValues<typeof flags>): string {
  const { image, drop, include, namespaceLabel, distribution, kubeletRoot } = values;
  const nodes = values.nodes === undefined ? undefined : nodesOf(values.nodes);
  if (drop && include === undefined)
    throw invalidOption(
      "--drop has two files: apply that of --include=daemonset, then that of --include=policy; delete them in the " +
        "other order, and restart the drivers' DaemonSets in between",
    );
  if (include === "daemonset") {
    const { httpPort, startupTaint, nodeCondition } = values;
    const ofNode = { image, distribution, kubeletRoot, httpPort, nodes };
    return makeNodeWideManifests({ ...ofNode, startupTaint, nodeCondition });
  }
  const scope = {
    ...{ image, name: values.name, namespaceLabel, nodes, minor: values.kubernetesVersion },
    ...{ namespaces: values.namespace ?? [], matchImages: values.matchImage ?? [] },
  };
  if (drop) return streamOf(dropPolicy({ ...scope, distribution, kubeletRoot }));
  const args = [...sidecarArguments(values.arg ?? []), ...readinessFrom(values)];
  return streamOf(swapPolicy({ ...scope, args, metrics: metricsPortsOf(values), keep: values.keep ?? [] }));
}

/** They need a token: without one the registrar exits. */
function readinessFrom({
  startupTaint = [],
  nodeCondition,
}: FlagValues<typeof flags>): readonly AddedArgument[] {
  const targets = parseTargets({
    startupTaints: startupTaint,
    condition: nodeCondition,
    severalDrivers: true,
  });
  return Object.entries(readinessArguments(targets))
    .filter(([, words]) => words.length > 0)
    .map(([flag, words]) => ({ words, unless: [flag], needsToken: true }));
}

/** Flags that a policy for every driver cannot set. */
const NOT_FOR_ALL: readonly FlagName[] = [
  ...(["csi-address", "kubelet-registration-path", "plugin-registration-path", "node-name"] as const),
  ...(["driver-gone-after", "allow-drivers", "deny-drivers", "version", "mode"] as const),
];
/** What gives them the rights or the port that they need, too. */
const INSTEAD: Readonly<Partial<Record<FlagName, string>>> = {
  "http-endpoint": "--metrics-port",
  "remove-startup-taint": "--startup-taint",
  "node-condition": "--node-condition",
};
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
  if (INSTEAD[name]) return refuse(`has a flag of its own: give ${INSTEAD[name]}`);
  return { words: [word], unless: [name, ...(EXCLUDED[name] ?? [])], needsToken: false };
}
