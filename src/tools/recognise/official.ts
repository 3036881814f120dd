import { messageOf } from "../../base/errors";
import { type FlagForm, parseWords } from "../../flags/grammar";
import { endpointOf, portsProblem } from "../../flags/start-options";
import { ACCEPTED_FLAGS, type Flags, flagTable } from "../../flags/table";
import { resolveLogging } from "../../logging/logging-options";
import { partsOf } from "./image";
import { type Decided, isTemplate } from "./rule";

/** The official registrar's latest release, as a number: v2.17 is 217. */
export const LATEST = 217;
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
export const addedIn = (flag: string) => ADDED.find(([, flags]) => flags.includes(flag))?.[0];
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

/** Whether it makes the directory of the file that tells its probe of a registration: a tag without a release may be any. */
export function makesDirectories(image: string): Decided {
  const { tag } = partsOf(image);
  return isTemplate(image) || !/^v?\d/.test(tag) ? "open" : !/^v?2\.6\.[01](?!\d)/.test(tag);
}

const STARTS = { kind: "starts" } as const;

/** What an official registrar does with some arguments; `unclear`: that depends on its release. */
export function askOfficial(words: readonly string[], release: number | undefined) {
  const known = officialFlags(release);
  const line = parseWords(words, known);
  if (line.kind === "help") return STARTS;
  if (line.kind === "parsed") {
    // Go keeps the last value of a repeated flag.
    const values = [...new Map(line.settings.map(({ name, value }) => [name, value]))];
    const alpha = values.find(([name, value]) => ALPHA_FLAGS.test(name) && value);
    return alpha === undefined ? STARTS : ({ kind: "alpha", flag: alpha[0] } as const);
  }
  const unknown = unknownIn(words, known);
  const [flag] = unknown;
  if (flag !== undefined && release === undefined && officialFlags(LAST_WITH_KLOG).has(flag))
    return { kind: "unclear", flag, in: "older", unknown } as const;
  const newer = unknown.find((name) => !ACCEPTED_FLAGS.has(name));
  if (newer !== undefined && (release === undefined || release > LATEST))
    return { kind: "unclear", flag: newer, in: "newer", unknown } as const;
  return { kind: "refused", message: line.message, unknown } as const;
}

/** Why it ends with values that its flags take; undefined if it does not. What it dials in vain keeps it waiting. */
export function officialProblemOf(flags: Flags): string | undefined {
  const { csiAddress, timeoutMs } = flags;
  const logging = resolveLogging(flags);
  if (logging.kind === "invalid") return `LoggingConfiguration is invalid: ${logging.error}`;
  const [, authority] = /^unix:\/\/([^/].*)/s.exec(csiAddress) ?? [];
  if (authority !== undefined)
    return `csi-address ${csiAddress}: invalid (non-empty) authority: ${authority}`;
  if (csiAddress === "") return "csi-address is empty";
  if (timeoutMs <= 0) return `timeout is ${timeoutMs / 1000}s: it ends as soon as the driver answers`;
  try {
    officialEndpointOf(flags);
    return portsProblem(flags);
  } catch (error) {
    return messageOf(error);
  }
}

/** Its HTTP endpoint; Go knows these services by name in an image without /etc/services (net/lookup.go). */
export const officialEndpointOf = (flags: Flags) =>
  endpointOf({
    ...flags,
    httpEndpoint: flags.httpEndpoint.replace(/:([a-z]\w*)$/i, (whole, name: string) => {
      const port = SERVICES.get(name.toLowerCase());
      return port === undefined ? whole : `:${port}`;
    }),
  });
const SERVICES = new Map(
  "domain 53, ftp 21, ftps 990, gopher 70, http 80, https 443, imap2 143, imap3 220, imaps 993, pop3 110, pop3s 995, smtp 25, ssh 22, telnet 23"
    .split(", ")
    .map((one) => one.split(" ") as [name: string, port: string]),
);

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
