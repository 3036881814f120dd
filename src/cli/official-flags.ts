import { nearWord } from "../base/near-word";
import { acceptedFlags, flagTable } from "./flags";
import { type GoFlag, parseGoFlags } from "./go-flags";
import { correctArgument } from "./meant-flag";

/** A release of the official registrar as a number: v2.17 is 217. */
export type OfficialRelease = number;

const LATEST: OfficialRelease = 217;
/** The releases that brought a flag; the other flags are as old as v1.1. */
const SINCE: ReadonlyMap<string, OfficialRelease> = new Map(
  Object.entries({
    "plugin-registration-path": 200,
    "health-port": 200,
    timeout: 201,
    "http-endpoint": 201,
    mode: 203,
    "enable-pprof": 204,
    "logging-format": 211,
    "log-flush-frequency": 211,
    "log-text-split-stream": 211,
    "log-text-info-buffer-size": 211,
    "log-json-split-stream": 211,
    "log-json-info-buffer-size": 211,
    automaxprocs: 214,
  }),
);
/** The last release with klog's flags. */
const LAST_WITH_KLOG: OfficialRelease = 210;
/** Those with which it ends unless they are off, as it has no flag for the feature gate that they ask for. */
const ALPHA_FLAGS = /^log-(?:text|json)-(?:split-stream|info-buffer-size)$/;

/** What an official registrar makes of arguments: it starts, it ends, or that depends on its release. */
export type OfficialAnswer =
  | { readonly kind: "starts" }
  | { readonly kind: "refused"; readonly problem: string; readonly advice: string }
  | { readonly kind: "unclear"; readonly flag: string };

/** The flags that its `--help` prints, as of a release. */
export function officialFlags(release = LATEST): ReadonlyMap<string, GoFlag> {
  const { dropIn, deprecated, removed, ours } = flagTable;
  const mode = { ...ours.mode, parse: (value: string) => ({ value }) };
  const { kubeconfig, ...klog } = removed;
  return new Map<string, GoFlag>([
    ...Object.entries<GoFlag>({ ...dropIn, ...deprecated, mode }).filter(
      ([name]) => (SINCE.get(name) ?? 0) <= release,
    ),
    ...(release <= LAST_WITH_KLOG ? Object.entries<GoFlag>(klog) : []),
    ...(release < 101 ? Object.entries<GoFlag>({ kubeconfig }) : []),
  ]);
}

/** Whether the official registrar of a release starts with these words; undefined for a release that is not known. */
export function askOfficial(words: readonly string[], release: OfficialRelease | undefined): OfficialAnswer {
  const known = officialFlags(release);
  const line = parseGoFlags(words, known);
  if (line.kind === "parsed") {
    // Go keeps the last value of a flag that is given again.
    const alpha = [...new Map(line.settings)].find(([name, value]) => ALPHA_FLAGS.test(name) && value);
    return alpha === undefined
      ? { kind: "starts" }
      : {
          kind: "refused",
          problem: `LoggingConfiguration is invalid: -${alpha[0]} needs the feature LoggingAlphaOptions`,
          advice: `take --${alpha[0]} out, or take this registrar's image: the official one has no flag for that feature`,
        };
  }
  if (line.kind === "help") return { kind: "starts" };
  const [, flag] = /^flag provided but not defined: -(.*)$/s.exec(line.message) ?? [];
  if (flag !== undefined && release === undefined && officialFlags(LAST_WITH_KLOG).has(flag))
    return { kind: "unclear", flag };
  return { kind: "refused", problem: line.message, advice: adviceOn(flag, known) };
}

function adviceOn(flag: string | undefined, known: ReadonlyMap<string, GoFlag>): string {
  const since = SINCE.get(flag ?? "");
  if (flag === undefined) return correctArgument();
  if (since !== undefined)
    return `take --${flag} out, or take a release from v${Math.floor(since / 100)}.${since % 100} on`;
  if (acceptedFlags().has(flag))
    return `take --${flag} out, or take this registrar's image: the official one does not have that flag`;
  return correctArgument(nearWord(flag, known.keys()));
}
