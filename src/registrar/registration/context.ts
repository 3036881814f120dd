import { errnoOf, messageOf } from "../../base/errors";
import type { createGrpcServer } from "../../grpc/server";
import type { Logger } from "../../logging/logger";
import type { PathWatch } from "../../unix/path-watch";
import type { SocketFile } from "../../unix/socket-file";
import { fitsSocketPath } from "../../unix/socket-path";
import { untilDone } from "../../unix/until-done";
import type { ResolvedOptions } from "../model/options";
import {
  fileNameOf,
  nextAlias,
  registrationSocketPath,
  type SocketOfDriver,
  socketsOf,
} from "../model/socket-name";
import type { DriverFacts } from "../model/state";
import type { KubeletClients } from "./kubelet-clients";
import { askInfo } from "./self-report";

/** What the states of a registration work with. None of it changes from state to state. */
export interface RegistrationContext {
  readonly options: ResolvedOptions;
  readonly log: Logger;
  readonly socket: SocketFile;
  readonly server: Pick<ReturnType<typeof createGrpcServer>, "connections" | "close">;
  readonly kubelet: KubeletClients;
  /** The watch of our socket, kept from state to state. */
  readonly watchAt: (path: string) => Promise<PathWatch>;
  /** Called with the reason when our socket could not be published and is tried again. */
  readonly onUnpublished: (reason: string) => void;
}

export function socketPathOf({ alias, driverName }: DriverFacts, options: ResolvedOptions): string {
  const name = alias ?? fileNameOf(options, driverName);
  return registrationSocketPath(options.pluginRegistrationPath, name);
}

/**
 * The registration sockets of this driver, of whatever registrar. A living one that has an alias is asked whose it is. Rejects
 * where the directory cannot be read. Where permission is missing, which a wait does not change, it warns, and finds none.
 */
export async function socketsOfDriver(
  { driverName }: DriverFacts,
  { options, log }: Pick<RegistrationContext, "options" | "log">,
  signal: AbortSignal,
): Promise<readonly SocketOfDriver[]> {
  const { pluginRegistrationPath } = options;
  const sockets = await socketsOf(pluginRegistrationPath, fileNameOf(options, driverName)).catch(
    (error: unknown) => {
      if (!["EACCES", "EPERM"].includes(errnoOf(error) ?? "")) throw error;
      log.warn("Cannot see whether another registrar has published the driver under another name", {
        ...{ pluginRegistrationPath, err: messageOf(error) },
        check: "may this process list that directory: its mode, SELinux, AppArmor?",
      });
      return [];
    },
  );
  const areOthers = await Promise.all(
    sockets.map(([alias, found]) => found === "taken" && isOfAnother({ driverName, alias }, options, signal)),
  );
  return sockets.filter((_, at) => !areOthers[at]);
}

/**
 * Whether the registrar under this alias says that its driver is another one, whose name looks like an alias of ours; undefined
 * if it does not answer.
 */
export async function isOfAnother(
  { driverName, alias }: Pick<DriverFacts, "driverName" | "alias">,
  { pluginRegistrationPath, timeoutMs }: ResolvedOptions,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  if (alias === undefined) return false;
  const path = registrationSocketPath(pluginRegistrationPath, alias);
  const info = await askInfo(path, { timeoutMs, signal }).catch(() => undefined);
  return info && info.name !== driverName;
}

/** Another alias for our socket, to get around kubelet's backoff; undefined if it does not fit into a socket's path. */
export function anotherAlias(facts: DriverFacts, options: ResolvedOptions): string | undefined {
  const alias = nextAlias(fileNameOf(options, facts.driverName), facts.alias);
  return fitsSocketPath(socketPathOf({ ...facts, alias }, options)) ? alias : undefined;
}

/** Withdraws or hides our socket, again by backoff as long as that fails. */
export function untilRemoved(remove: () => Promise<void>, log: Logger, signal: AbortSignal): Promise<void> {
  const onFailure = (error: unknown) => log.error(error, "Failed to remove socket with error, trying again");
  return untilDone(remove, { log, signal, onFailure });
}
