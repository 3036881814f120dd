import { dirname, resolve } from "node:path";
import { attempt } from "../base/errors";
import { judgeByMounts } from "../host-path/host-path";
import { isPattern } from "../host-path/path-pattern";
import type { Logger } from "../logging/logger";
import { findFile, isDirectory } from "../unix/files";
import type { Mount } from "../unix/mounts";
import { MAX_SOCKET_PATH_BYTES, parseCsiAddress, pathInUnixAddress } from "../unix/socket-path";
import { isNodeWide, type Paths, patternPairsOf } from "./paths";
import type { FlagName, Flags } from "./table";

/** The flags that need a `*` in the paths, and those that need paths without one. */
const FOR_PATTERNS: readonly FlagName[] = ["driver-gone-after", "allow-drivers", "deny-drivers"];
const FOR_ONE_DRIVER: readonly FlagName[] = ["driver-timeout", "on-registration-failure"];
/** Any mode that gets here is a normal run. */
const DEPRECATED: readonly (readonly [FlagName, instead: string])[] = [
  ["health-port", "use --http-endpoint=:PORT"],
  ["mode", "leave it out; probe with --mode=health-probe or /healthz"],
];

const dashed = (flags: readonly string[]) => flags.map((flag) => `--${flag}`).join(" ");

/** Logs what was assumed, what is deprecated or ignored, and what looks wrong. By default `mounts` are this process's. */
export async function warnAboutFlags(
  flags: Flags,
  paths: Paths,
  log: Logger,
  mounts?: readonly Mount[],
): Promise<void> {
  for (const { flag, value } of paths.assumed)
    log.info("Not in a container, assuming the paths of this node", { flag: `--${flag}`, value });
  if (flags.connectionTimeoutMs !== 0) log.info("--connection-timeout is deprecated and will have no effect");
  for (const [flag, instead] of DEPRECATED)
    if (flags.given.has(flag)) log.warn("Flag is deprecated", { flag: `--${flag}`, instead });
  if (flags.ignored.length > 0)
    log.warn("Flags of former releases are ignored", { flags: dashed(flags.ignored) });
  warnAboutWords(flags, log);
  const endpoint = flags.healthPort > 0 ? `:${flags.healthPort}` : flags.httpEndpoint;
  if (flags.enablePprof && endpoint === "") log.warn("--enable-pprof has no effect without --http-endpoint");
  if (flags.enablePprof && /^(?:0\.0\.0\.0|\[::\])?:/.test(endpoint))
    log.warn("Profiles can be read by every client that reaches this host: listen on localhost", {
      endpoint,
    });
  warnAboutPatterns(flags, log);
  const { addresses, endpoints } = everyPath(flags, paths);
  for (const address of addresses) warnAboutAddress(address, log);
  for (const path of endpoints) warnAboutEndpoint(path, log);
  for (const advice of await adviceOnHostPaths(flags, paths, mounts))
    log.warn("Kubelet will not find the driver", { ...advice });
}

/** A flag among the words is missed easily: `--enable-pprof true` ends the flags. */
export function warnAboutWords({ rest }: Pick<Flags, "rest">, log: Logger): void {
  if (rest.length > 0)
    log.warn("Words after the flags are ignored, and so is every flag among them", { words: rest.join(" ") });
}

function warnAboutPatterns(flags: Flags, log: Logger): void {
  const { csiAddress, kubeletRegistrationPath } = flags.every;
  const nodeWide = isNodeWide(flags);
  const without = (nodeWide ? FOR_ONE_DRIVER : FOR_PATTERNS).filter((flag) => flags.given.has(flag));
  if (without.length > 0)
    log.warn(`Flags have no effect ${nodeWide ? "with" : "without"} * in the paths`, {
      flags: dashed(without),
    });
  if (!nodeWide && (csiAddress.length > 1 || kubeletRegistrationPath.length > 1))
    log.warn("Paths are given more than once: without * in any of them only the last counts", {
      csiAddress: flags.csiAddress,
      kubeletRegistrationPath: flags.kubeletRegistrationPath,
    });
}

function warnAboutAddress(csiAddress: string, log: Logger): void {
  const [, path] = /^unix:(?:\/\/)?([^/@].*)$/s.exec(csiAddress) ?? [];
  if (path === undefined) return;
  log.warn("CSI address is relative to the working directory, an absolute one begins with unix:///", {
    csiAddress,
    path: resolve(path),
  });
}

function warnAboutEndpoint(endpoint: string, log: Logger): void {
  const bytes = Buffer.byteLength(endpoint);
  const doubt = (problem: string) =>
    log.warn("Kubelet probably cannot reach the driver", { kubeletRegistrationPath: endpoint, problem });
  if (!endpoint.startsWith("/")) doubt("the path is not absolute");
  if (bytes > MAX_SOCKET_PATH_BYTES)
    doubt(`the path has ${bytes} bytes, the most is ${MAX_SOCKET_PATH_BYTES}`);
  if (endpoint.includes("/plugins_registry/")) doubt("it is in plugins_registry, among registration sockets");
}

const everyPath = (flags: Flags, { endpoint }: Paths) =>
  isNodeWide(flags)
    ? {
        addresses: flags.every.csiAddress,
        endpoints: flags.every.kubeletRegistrationPath.map((path) => pathInUnixAddress(path) ?? path),
      }
    : { addresses: [flags.csiAddress], endpoints: [endpoint] };

/**
 * The kubelet registration paths that by the mounts of this container are wrong, such as one of the container. Only on Linux,
 * and only where a socket can appear: no advice repeats a pattern that is refused.
 */
async function adviceOnHostPaths(flags: Flags, paths: Paths, mounts?: readonly Mount[]) {
  if (isNodeWide(flags) && attempt(() => patternPairsOf(flags)) === undefined) return [];
  const { pluginRegistrationPath } = paths;
  const { addresses, endpoints } = everyPath(flags, paths);
  const advices = addresses.map(async (csiAddress, index) => {
    const endpoint = endpoints[index];
    if (endpoint === undefined) return [];
    const csiSocketPath = attempt(() => parseCsiAddress(csiAddress));
    if (csiSocketPath !== undefined && !isPattern(csiSocketPath) && !(await mayBeSocket(csiSocketPath)))
      return [];
    const facts = { csiSocketPath, endpoint, pluginRegistrationPath };
    const verdict = await judgeByMounts(facts, mounts);
    if (verdict.kind !== "wrong") return [];
    return [{ kubeletRegistrationPath: endpoint, problem: verdict.problem, fix: verdict.fix }];
  });
  return (await Promise.all(advices)).flat();
}

async function mayBeSocket(path: string): Promise<boolean> {
  const found = await findFile(path);
  return typeof found === "string" ? isDirectory(dirname(path)) : found.isSocket();
}
