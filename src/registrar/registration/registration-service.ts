import { protos, type RegistrationStatus } from "../../grpc/protos";
import type { ServiceHost } from "../../grpc/server/server";
import { unaryHandler } from "../../grpc/server/unary-handler";
import { boundText } from "../../logging/escape";
import type { Logger } from "../../logging/logger";
import type { RegistrationLoopOptions } from "./context";
import { ENDPOINT_KEY, REASON_KEY, SELF_CHECK_KEY, SINCE_KEY, STATE_KEY } from "./self-check";

const MAX_REASON_LENGTH = 1_000;

export interface RegistrationServiceOptions
  extends Pick<RegistrationLoopOptions, "type" | "supportedVersions" | "kubeletRegistrationPath"> {
  readonly driverName: () => string;
  /** For self-checks: the state, since when in milliseconds since the epoch, and why if the state does not say it all. */
  readonly report: () => {
    readonly state: string;
    readonly since: number;
    readonly reason: string | undefined;
  };
  /** `publication` is aborted when the socket over which kubelet called is no longer ours. */
  readonly onGetInfo: (publication: AbortSignal | undefined) => void;
  readonly onRegistrationStatus: (status: RegistrationStatus, publication: AbortSignal | undefined) => void;
}

/**
 * Adds kubelet's `Registration` service to a gRPC server. The listeners run after the answer is sent, so that kubelet
 * gets it even where a refusal ends this process.
 */
export function addRegistrationService(
  server: ServiceHost,
  options: RegistrationServiceOptions,
  parentLog: Logger,
): void {
  const log = parentLog.named("registration-service");
  // A kubelet from 1.36 on repeats itself each second as long as it refuses.
  let lastError = "";
  server.addService(protos.registration, {
    GetInfo: unaryHandler<object, object>((_request, { metadata, sendMetadata, listenerGone }) => {
      if (metadata.get(SELF_CHECK_KEY).length > 0) {
        const { state, since, reason } = options.report();
        sendMetadata({
          [STATE_KEY]: state,
          [ENDPOINT_KEY]: encodeURI(options.kubeletRegistrationPath),
          [SINCE_KEY]: String(since),
          ...(reason === undefined ? {} : { [REASON_KEY]: encodeReason(reason) }),
        });
      } else {
        log.v(4).info("Received GetInfo call", { request: "" });
        setImmediate(options.onGetInfo, listenerGone);
      }
      return {
        type: options.type,
        name: options.driverName(),
        endpoint: options.kubeletRegistrationPath,
        supportedVersions: options.supportedVersions,
      };
    }),
    NotifyRegistrationStatus: unaryHandler<RegistrationStatus, object>((received, { listenerGone }) => {
      // Kubelet may quote the driver's text, which may have megabytes.
      const status = { ...received, error: boundText(received.error) };
      const repeats = status.error !== "" && status.error === lastError;
      lastError = status.error;
      log.v(repeats ? 4 : 0).info("Received NotifyRegistrationStatus call", { status: statusText(status) });
      setImmediate(options.onRegistrationStatus, status, listenerGone);
      return {};
    }),
  });
}

/** A header is short ASCII. `Buffer` replaces half of a surrogate pair, which UTF-8 cannot encode. */
function encodeReason(reason: string): string {
  return encodeURIComponent(Buffer.from(reason.slice(0, MAX_REASON_LENGTH)).toString());
}

/** The registration status in protobuf's text form, as the official registrar logs it. */
function statusText({ pluginRegistered, error }: RegistrationStatus): string {
  const fields = [pluginRegistered && "plugin_registered:true", error && `error:${JSON.stringify(error)}`];
  return fields.filter(Boolean).join(" ");
}
