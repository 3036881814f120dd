import { nearWord } from "../base/near-word";
import { type FlagForm, parseWords } from "./grammar";
import { ACCEPTED_FLAGS, flagTable } from "./table";

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
  const flag = line.unknown;
  if (flag !== undefined && release === undefined && officialFlags(LAST_WITH_KLOG).has(flag))
    return { kind: "unclear", flag } as const;
  return { kind: "refused", problem: line.message, advice: adviceOn(flag, known) } as const;
}

export const correctArgument = (near?: string) =>
  `correct that argument${near === undefined ? "" : `: did you mean --${near}?`}`;

function adviceOn(flag: string | undefined, known: ReadonlyMap<string, FlagForm>): string {
  if (flag === undefined) return correctArgument();
  const since = addedIn(flag);
  if (since !== undefined)
    return `take --${flag} out, or take a release from v${Math.floor(since / 100)}.${since % 100} on`;
  if (ACCEPTED_FLAGS.has(flag))
    return `take --${flag} out, or take this registrar's image: the official one does not have that flag`;
  return correctArgument(nearWord(flag, known.keys()));
}
