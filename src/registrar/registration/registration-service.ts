import { protos, type RegistrationStatus } from "../../grpc/protos";
import type { ServiceHost } from "../../grpc/server/server";
import { unaryHandler } from "../../grpc/server/unary-handler";
import { boundText } from "../../logging/escape";
import type { Logger } from "../../logging/logger";
import type { RegistrationLoopOptions } from "./context";
import { encodeReport, REPORT_KEY, type RegistrationReport, SELF_CHECK_KEY } from "./self-check";

export interface RegistrationServiceOptions
  extends Pick<RegistrationLoopOptions, "type" | "supportedVersions" | "kubeletRegistrationPath"> {
  readonly driverName: () => string;
  /** For self-checks. */
  readonly report: () => RegistrationReport;
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
        sendMetadata({ [REPORT_KEY]: encodeReport(options.report()) });
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

/** The registration status in protobuf's text form, as the official registrar logs it. */
function statusText({ pluginRegistered, error }: RegistrationStatus): string {
  const fields = [pluginRegistered && "plugin_registered:true", error && `error:${JSON.stringify(error)}`];
  return fields.filter(Boolean).join(" ");
}
