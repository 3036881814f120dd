import { invalidOption } from "../../../base/errors";
import { httpEndpointOf, startProblemOf } from "../../../flags/checks";
import { type FlagName, nearestFlag, parseFlags } from "../../../flags/table";
import type { AddedArgument } from "../../../manifest/image-policy/changes";

const OTHERS = "belongs to each driver's own arguments";
const NODE_WIDE = "is for a registrar of a whole node";
/** Flags that a policy for every driver cannot set, and why. */
const REFUSED: Readonly<Partial<Record<FlagName, string>>> = {
  "csi-address": OTHERS,
  "kubelet-registration-path": OTHERS,
  "plugin-registration-path": OTHERS,
  "node-name": "would give every node the same name",
  "remove-startup-taint": "needs more than the flag: give --startup-taint",
  "node-condition": "needs more than the flag: give --node-condition",
  "impersonate-node": "needs rights of its own: use registrar manifest --node-access impersonation",
  "driver-gone-after": NODE_WIDE,
  "allow-drivers": NODE_WIDE,
  "deny-drivers": NODE_WIDE,
  version: "would end every registrar at once",
  mode: "would turn the registrars into probes",
};
/** Flags that exclude each other: with both the registrar does not start. */
const EXCLUDED: Readonly<Partial<Record<FlagName, readonly FlagName[]>>> = {
  "http-endpoint": ["health-port"],
  "logging-format": ["vmodule"],
  vmodule: ["logging-format"],
};

/** Flags that containers may have: beside them the registrar checks more of the others' values. */
const BESIDE = ["--http-endpoint=:9809", "--node-condition={driver}/Registered"];

/** Parses the arguments of `--arg` as the sidecar does. Throws INVALID_OPTION for one, or for all together. */
export function sidecarArguments(words: readonly string[]): readonly AddedArgument[] {
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
    const meant = nearestFlag(line.unknown);
    return refuse(
      `is not an argument of the registrar: ${line.message}${meant ? `; did you mean --${meant}?` : ""}`,
    );
  }
  const { given, ignored, deprecated } = line.flags;
  if (ignored.length + deprecated.length > 0) return refuse("has no effect, or is deprecated: leave it out");
  const [name] = given;
  if (name === undefined) return refuse("is not a flag: write --arg=--FLAG=VALUE");
  const why = REFUSED[name];
  if (why !== undefined) return refuse(why);
  const port = Number(httpEndpointOf(line.flags)?.replace(/.*:/, "")) || undefined;
  return { words: [word], unless: [name, ...(EXCLUDED[name] ?? [])], needsToken: false, port };
}
