import { type Server, status } from "@grpc/grpc-js";
import { registrationMethods } from "../../grpc/methods";
import type { RegistrationStatus } from "../../grpc/protos";
import { createSmallServer, unaryHandler } from "../../grpc/server";
import { boundText } from "../../logging/escape";
import type { Logger } from "../../logging/logger";
import type { RegistrationLoopOptions } from "./context";
import { encodeReport, REPORT_KEY, type RegistrationReport, SELF_CHECK_KEY } from "./self-check";

export interface RegistrationServiceOptions
  extends Pick<RegistrationLoopOptions, "type" | "supportedVersions" | "kubeletRegistrationPath"> {
  readonly driverName: () => string;
  /** Why kubelet gets no answer to GetInfo; undefined if it gets one. */
  readonly whyNot: () => string | undefined;
  readonly report: () => RegistrationReport;
  /** `publication` is aborted when the socket over which kubelet called is no longer ours. */
  readonly onGetInfo: (publication: AbortSignal | undefined) => void;
  readonly onRegistrationStatus: (status: RegistrationStatus, publication: AbortSignal | undefined) => void;
}

/**
 * Creates gRPC servers with kubelet's `Registration` service, one for each connection, because grpc-js does not tell a handler
 * over which its call came. The listeners run after the answer, so that kubelet gets it even if a refusal ends this process.
 */
export function createRegistrationServers(options: RegistrationServiceOptions, parentLog: Logger) {
  const log = parentLog.named("registration-service");
  let lastError = "";
  return (publication: AbortSignal | undefined): Server => {
    const server = createSmallServer();
    server.addService(registrationMethods, {
      GetInfo: unaryHandler<object, object>((_request, { metadata, sendMetadata }) => {
        if (metadata(SELF_CHECK_KEY).length > 0) {
          sendMetadata({ [REPORT_KEY]: encodeReport(options.report()) });
        } else {
          log.v(4).info("Received GetInfo call", { request: "" });
          const details = options.whyNot();
          if (details !== undefined) throw Object.assign(new Error(details), { code: status.UNAVAILABLE });
          setImmediate(options.onGetInfo, publication);
        }
        return {
          type: options.type,
          name: options.driverName(),
          endpoint: options.kubeletRegistrationPath,
          supportedVersions: options.supportedVersions,
        };
      }),
      NotifyRegistrationStatus: unaryHandler<RegistrationStatus, object>((received) => {
        // Kubelet may quote the driver's text, which may have megabytes.
        const outcome = { ...received, error: boundText(received.error) };
        const repeats = outcome.error !== "" && outcome.error === lastError;
        lastError = outcome.error;
        const status = statusText(outcome);
        log.v(repeats ? 4 : 0).info("Received NotifyRegistrationStatus call", { status });
        setImmediate(options.onRegistrationStatus, outcome, publication);
        return {};
      }),
    });
    return server;
  };
}

/** The registration status in protobuf's text form, as the official registrar logs it. */
function statusText({ pluginRegistered, error }: RegistrationStatus): string {
  const fields = [pluginRegistered && "plugin_registered:true", error && `error:${JSON.stringify(error)}`];
  return fields.filter(Boolean).join(" ");
}
