import { resolve } from "node:path";
import type { Mount } from "../host-path/mounts";
import type { Logger } from "../logging/logger";
import { MAX_SOCKET_PATH_BYTES } from "../unix/socket-path";
import type { Flags } from "./flags";
import { adviceOnHostPaths } from "./host-path-advice";
import type { PathResolution } from "./paths";
import { isNodeWide, warnAboutPatterns } from "./pattern-warnings";

/** Logs once what was assumed, what is deprecated or ignored, and what looks wrong. Never exits. */
export function warnAboutFlags(
  flags: Flags,
  paths: PathResolution & { kind: "paths" },
  parentLog: Logger,
  /** @default those of this process */
  mounts?: readonly Mount[],
): void {
  const log = parentLog.named("flag-warnings");
  for (const { flag, value } of paths.assumed)
    log.info("Not in a container, assuming the paths of this node", { flag: `--${flag}`, value });
  if (flags.connectionTimeoutMs !== 0) log.info("--connection-timeout is deprecated and will have no effect");
  for (const { flag, advice } of flags.deprecated)
    if (flag !== "connection-timeout") log.warn("Flag is deprecated", { flag: `--${flag}`, instead: advice });
  if (flags.ignored.length > 0)
    log.warn("Flags of former releases are ignored", {
      flags: flags.ignored.map((flag) => `--${flag}`).join(" "),
    });
  warnAboutWords(flags, parentLog);
  if (flags.enablePprof && flags.httpEndpoint === "" && flags.healthPort <= 0)
    log.warn("--enable-pprof has no effect without --http-endpoint");
  if (flags.enablePprof && /^(?:0\.0\.0\.0|\[::\])?:/.test(flags.healthPort > 0 ? ":" : flags.httpEndpoint))
    log.warn("Everybody who reaches this host can read the profiles: listen on localhost", {
      endpoint: flags.httpEndpoint,
    });
  warnAboutPatterns(flags, log);
  for (const address of isNodeWide(flags) ? flags.every.csiAddress : [flags.csiAddress])
    warnAboutAddress(address, log);
  const endpoints = isNodeWide(flags) ? flags.every.kubeletRegistrationPath : [paths.kubeletRegistrationPath];
  for (const endpoint of endpoints) warnAboutEndpoint(endpoint, log);
  for (const { told, advice } of adviceOnHostPaths(flags, paths, mounts))
    log.warn("Kubelet will not find the driver", { kubeletRegistrationPath: told, ...advice });
}

/** A flag that is missed may be among them: `--enable-pprof true` ends the flags. */
export function warnAboutWords({ rest }: Pick<Flags, "rest">, parentLog: Logger): void {
  const log = parentLog.named("flag-warnings");
  if (rest.length > 0)
    log.warn("Words behind the flags are ignored, and so is every flag among them", {
      words: rest.join(" "),
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
    log.warn("Kubelet will hardly reach the driver", { kubeletRegistrationPath: endpoint, problem });
  if (!endpoint.startsWith("/")) doubt("the path is not absolute");
  if (bytes > MAX_SOCKET_PATH_BYTES)
    doubt(`the path has ${bytes} bytes, a unix socket path may have ${MAX_SOCKET_PATH_BYTES}`);
  if (/\/plugins_registry\//.test(endpoint))
    doubt("it is in plugins_registry, where kubelet takes every socket for a registration socket");
}
