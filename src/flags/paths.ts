import { join } from "node:path";
import { invalidOption } from "../base/errors";
import { DEFAULT_KUBELET_ROOT } from "../host-path/kubelet-roots";
import { isPattern, pairPatterns } from "../host-path/path-pattern";
import { quoteText } from "../logging/escape";
import { type ParsedNames, parseNameLists } from "../registrar/node-wide/name-lists";
import { isDirectory } from "../unix/files";
import { parseCsiAddress } from "../unix/socket-path";
import { OFFICIAL_PROBE_MODE } from "./grammar";
import type { Flags } from "./table";

/** Where DaemonSets mount the plugin registration directory in the registrar's container. */
export const CONTAINER_DIRECTORY = "/registration";
export const ROOT_VARIABLE = "KUBELET_ROOT_DIR";

export function nodeDirectory(env: Readonly<Record<string, string | undefined>>): string {
  return join(env[ROOT_VARIABLE] || DEFAULT_KUBELET_ROOT, "plugins_registry");
}

export function isNodeWide({ every }: Pick<Flags, "every">): boolean {
  return [...every.csiAddress, ...every.kubeletRegistrationPath].some(isPattern);
}

const FLAG_OF = { csiAddresses: "csi-address", endpoints: "kubelet-registration-path" };

/** The patterns, each driver's with the one for kubelet, by default the same. Throws INVALID_OPTION if they do not fit together. */
export function patternPairsOf({ every: { csiAddress, kubeletRegistrationPath } }: Pick<Flags, "every">) {
  const endpoints = kubeletRegistrationPath.length > 0 ? kubeletRegistrationPath : csiAddress;
  return pairPatterns(csiAddress, endpoints, FLAG_OF);
}

/**
 * The names that the flags allow and deny; without `--allow-drivers` every one is allowed. `given`: the flags of a command line that
 * has defaults, too. Throws INVALID_OPTION.
 */
export function nameListsFrom(flags: {
  readonly allowDrivers?: string | undefined;
  readonly denyDrivers?: string | undefined;
  readonly given?: Flags["given"];
}): ParsedNames {
  const isGiven = flags.given?.has("allow-drivers") ?? flags.allowDrivers !== undefined;
  const allow = namesOf("--allow-drivers", flags.allowDrivers, isGiven);
  const deny = namesOf("--deny-drivers", flags.denyDrivers);
  return parseNameLists({ allow: allow.length > 0 ? allow : undefined, deny });
}

/** `a,b` as people write it in YAML: perhaps with spaces, or a comma at the end. */
function namesOf(flag: string, list = "", mustName = list !== ""): readonly string[] {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  // An empty list would allow every driver: probably a template that had no names.
  if (mustName && names.length === 0)
    throw invalidOption(`${flag} ${quoteText(list)} names no driver: give names, or leave it out`);
  return names;
}

export type Paths = Extract<Awaited<ReturnType<typeof resolvePaths>>, { readonly kind: "paths" }>;

/**
 * Decides where the registration socket goes and which path kubelet gets. In a container (/registration exists, or the
 * directory is given) by the official registrar's rules, with the required flag. Elsewhere the defaults are kubelet's own
 * directory and the CSI address, which `assumed` lists.
 */
export async function resolvePaths(
  flags: Pick<Flags, "csiAddress" | "kubeletRegistrationPath" | "pluginRegistrationPath" | "mode" | "given">,
  onNode: string,
  isThere = isDirectory,
) {
  const { pluginRegistrationPath, mode, given, kubeletRegistrationPath: told } = flags;
  const isInContainer = given.has("plugin-registration-path") || (await isThere(CONTAINER_DIRECTORY));
  // With the path the official probe has ended before.
  if (told === "" && (isInContainer || mode === OFFICIAL_PROBE_MODE))
    return missing("kubelet-registration-path is a required parameter");
  if (isInContainer) return { kind: "paths", endpoint: told, pluginRegistrationPath, assumed: [] } as const;
  if (!(await isThere(onNode)))
    return missing(
      `neither ${CONTAINER_DIRECTORY} (in a container) nor ${onNode} (on a node) is a directory: ` +
        `name kubelet's plugin registration directory with --plugin-registration-path, or its root with ${ROOT_VARIABLE}, ` +
        "or simulate a kubelet with: registrar kubelet --plugin-registration-path DIR",
    );
  const endpoint = told || parseCsiAddress(flags.csiAddress);
  const assumed = [{ flag: "plugin-registration-path", value: onNode }];
  if (told === "") assumed.push({ flag: "kubelet-registration-path", value: endpoint });
  return { kind: "paths", endpoint, pluginRegistrationPath: onNode, assumed } as const;
}

const missing = (message: string) => ({ kind: "missing", message }) as const;
