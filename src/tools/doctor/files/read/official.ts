import { nearWord } from "../../../../base/near-word";
import { type FlagForm, parseWords } from "../../../../flags/grammar";
import { ACCEPTED_FLAGS, flagTable } from "../../../../flags/table";

/** The official registrar's latest release, as a number: v2.17 is 217. */
const LATEST = 217;
/** The releases that added flags; the other flags are as old as v1.1. */
const ADDED: readonly (readonly [number, flags: readonly string[]])[] = [
  [200, ["plugin-registration-path", "health-port"]],
  [201, ["timeout", "http-endpoint"]],
  [203, ["mode"]],
  [204, ["enable-pprof"]],
  [211, ["logging-format", "log-flush-frequency", "log-text-split-stream", "log-json-split-stream"]],
  [211, ["log-text-info-buffer-size", "log-json-info-buffer-size"]],
  [214, ["automaxprocs"]],
];
const addedIn = (flag: string) => ADDED.find(([, flags]) => flags.includes(flag))?.[0];
const LAST_WITH_KLOG: number = 210;
/** It ends unless they are off, because it has no flag for the feature gate that they need. */
const ALPHA_FLAGS = /^log-(?:text|json)-(?:split-stream|info-buffer-size)$/;

/** The flags that its `--help` prints in a release. */
export function officialFlags(release = LATEST): ReadonlyMap<string, FlagForm> {
  const { dropIn, deprecated, removed, ours } = flagTable;
  const mode = { ...ours.mode, parse: (text: string) => text };
  const { kubeconfig, ...klog } = removed;
  return new Map<string, FlagForm>([
    ...Object.entries<FlagForm>({ ...dropIn, ...deprecated, mode }).filter(
      ([name]) => (addedIn(name) ?? 0) <= release,
    ),
    ...(release <= LAST_WITH_KLOG ? Object.entries<FlagForm>(klog) : []),
    ...(release < 101 ? Object.entries<FlagForm>({ kubeconfig }) : []),
  ]);
}

/** Whether an official registrar starts with some arguments; `unclear` if that depends on its release. */
export function askOfficial(words: readonly string[], release: number | undefined) {
  const known = officialFlags(release);
  const line = parseWords(words, known);
  if (line.kind === "parsed") {
    // Go keeps the last value of a repeated flag.
    const alpha = [...new Map(line.settings.map(({ name, value }) => [name, value]))].find(
      ([name, value]) => ALPHA_FLAGS.test(name) && value,
    );
    if (alpha === undefined) return { kind: "starts" } as const;
    return {
      kind: "refused",
      problem: `LoggingConfiguration is invalid: -${alpha[0]} needs the feature LoggingAlphaOptions`,
      advice: `take --${alpha[0]} out, or take this registrar's image: the official one has no flag for that feature`,
    } as const;
  }
  if (line.kind === "help") return { kind: "starts" } as const;
  const unknown = unknownIn(words, known);
  const [flag] = unknown;
  if (flag !== undefined && release === undefined && officialFlags(LAST_WITH_KLOG).has(flag))
    return {
      kind: "unclear",
      why: `starts with some releases only: the official registrar has --${flag} before v2.11 only`,
      advice: `take --${flag} out, or give the image a tag with its release`,
    } as const;
  const newer = unknown.find((name) => !ACCEPTED_FLAGS.has(name) && addedIn(name) === undefined);
  if (newer !== undefined && (release === undefined || release > LATEST))
    return {
      kind: "unclear",
      why: `has --${newer}, which the official registrar does not have up to ${tagOf(LATEST)}, and a newer one may have`,
      advice: `${adviceOn(unknown, known)}; if the image is newer, see the log of its start`,
    } as const;
  return { kind: "refused", problem: line.message, advice: adviceOn(unknown, known) } as const;
}

const tagOf = (release: number) => `v${Math.floor(release / 100)}.${release % 100}`;

/** The flags that it does not know: the first one, and then those that the next starts would name. */
function unknownIn(words: readonly string[], known: ReadonlyMap<string, FlagForm>): readonly string[] {
  const unknown: string[] = [];
  const taken = new Map(known);
  for (;;) {
    const line = parseWords(words, taken);
    if (line.kind !== "error" || line.unknown === undefined || unknown.length > MAX_NAMED) return unknown;
    unknown.push(line.unknown);
    taken.set(line.unknown, ACCEPTED_FLAGS.get(line.unknown) ?? { parse: String });
  }
}
/** How many unknown flags of one command line a finding names: a user's mistakes are fewer. */
const MAX_NAMED = 20;

export const correctArgument = (near?: string) =>
  `correct that argument${near === undefined ? "" : `: did you mean --${near}?`}`;

function adviceOn(unknown: readonly string[], known: ReadonlyMap<string, FlagForm>): string {
  const [flag, ...others] = unknown;
  if (flag === undefined) return correctArgument();
  const since = addedIn(flag);
  if (since !== undefined && others.length === 0)
    return `take --${flag} out, or take a release from ${tagOf(since)} on`;
  if (!unknown.every((name) => ACCEPTED_FLAGS.has(name)))
    return correctArgument(nearWord(flag, known.keys()));
  const names = unknown.map((name) => `--${name}`);
  const all = [...names.slice(0, -2), names.slice(-2).join(" and ")].join(", ");
  const them = others.length === 0 ? "that flag" : "these flags";
  return `take ${all} out, or take this registrar's image: the official one does not have ${them}`;
}
