import type { startGrpcServer } from "../../grpc/server";
import type { Logger } from "../../logging/logger";
import type { Resolved } from "../../options/start-options";
import type { SocketFile } from "../../unix/socket-file";
import { fitsSocketPath } from "../../unix/socket-path";
import type { CommonOptions, PluginType } from "../model/options";
import { createAlias, fileNameOf, nextAlias, registrationSocketPath } from "../model/socket-name";
import type { DriverFacts } from "../model/state";

/** The options that a registration by itself needs, complete and checked. */
export interface RegistrationLoopOptions extends Resolved<CommonOptions> {
  readonly kubeletRegistrationPath: string;
  /** The driver's socket as this process sees it; undefined where the driver runs in this process. */
  readonly csiSocketPath?: string | undefined;
  readonly type: PluginType;
  readonly supportedVersions: readonly string[];
  /**
   * What to do at the start where a living registrar has our socket's place: take it, as the newest does, or stand by
   * for it. @default "take"
   */
  readonly placeTaken?: "take" | "stand-by" | undefined;
}

/** What the states of a registration work with. None of it changes from state to state. */
export interface RegistrationContext {
  readonly options: RegistrationLoopOptions;
  readonly log: Logger;
  readonly socket: SocketFile;
  readonly server: Pick<ReturnType<typeof startGrpcServer>, "hasCaller" | "connections" | "close">;
  /** Called with the reason when our socket could not be published and is tried again. */
  readonly onUnpublished: (reason: string) => void;
}

export function socketPathOf({ alias, driverName }: DriverFacts, { options }: RegistrationContext): string {
  const name = alias ?? fileNameOf(options.type, driverName);
  return registrationSocketPath(options.pluginRegistrationPath, name);
}

/** Another alias for our socket, to get around kubelet's backoff; undefined if it does not fit into a socket's path. */
export function anotherAlias(facts: DriverFacts, context: RegistrationContext): string | undefined {
  const name = fileNameOf(context.options.type, facts.driverName);
  const alias = facts.alias === undefined ? createAlias(name) : nextAlias(facts.alias);
  return fitsSocketPath(socketPathOf({ ...facts, alias }, context)) ? alias : undefined;
}
