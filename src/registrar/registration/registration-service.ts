import { protos, type RegistrationStatus } from "../../grpc/protos";
import type { ServiceHost } from "../../grpc/server/server";
import { unaryHandler } from "../../grpc/server/unary-handler";
import { boundText } from "../../logging/escape";
import type { Logger } from "../../logging/logger";
import type { PluginType } from "../model/options";
import { ENDPOINT_KEY, REASON_KEY, SELF_CHECK_KEY, SINCE_KEY, STATE_KEY } from "./self-check";

/** Most characters of a reason. */
const MAX_REASON_LENGTH = 1_000;

/** Where a registration stands, by its own word. */
export interface SelfReport {
  readonly state: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Undefined where the state says it all. */
  readonly reason: string | undefined;
}

/** What the service answers, and who hears what kubelet said. */
export interface RegistrationServiceOptions {
  readonly driverName: () => string;
  readonly type: PluginType;
  readonly supportedVersions: readonly string[];
  /** The kubelet registration path: where kubelet finds the CSI driver socket on the host. */
  readonly endpoint: string;
  /** For self-checks. */
  readonly report: () => SelfReport;
  /** `publication` is aborted when the socket over which kubelet called is ours no more. */
  readonly onGetInfo: (publication: AbortSignal | undefined) => void;
  readonly onRegistrationStatus: (
    status: { readonly registered: boolean; readonly error: string },
    publication: AbortSignal | undefined,
  ) => void;
}

/**
 * Adds kubelet's `Registration` service to a gRPC server. Each call is answered first; what follows from it happens
 * after, so that kubelet always gets its answer, even where a refusal ends this process.
 */
export function addRegistrationService(
  server: ServiceHost,
  options: RegistrationServiceOptions,
  { log: parentLog }: { readonly log: Logger },
): void {
  const log = parentLog.named("registration-service");
  const { GetInfo, NotifyRegistrationStatus } = protos.registration;
  // A kubelet from 1.36 on repeats itself each second as long as it refuses.
  let lastError = "";
  server.addService(
    { GetInfo, NotifyRegistrationStatus },
    {
      GetInfo: unaryHandler<object, object>((_request, { metadata, sendMetadata, listenerGone }) => {
        if (metadata.get(SELF_CHECK_KEY).length > 0) {
          const { state, since, reason } = options.report();
          sendMetadata({
            [STATE_KEY]: state,
            [ENDPOINT_KEY]: encodeURI(options.endpoint),
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
          endpoint: options.endpoint,
          supportedVersions: options.supportedVersions,
        };
      }),
      NotifyRegistrationStatus: unaryHandler<RegistrationStatus, object>((told, { listenerGone }) => {
        // It may quote the driver's text, which may have megabytes.
        const status = { ...told, error: boundText(told.error) };
        const repeats = status.error !== "" && status.error === lastError;
        lastError = status.error;
        log.v(repeats ? 4 : 0).info("Received NotifyRegistrationStatus call", { status: statusText(status) });
        const { pluginRegistered: registered, error } = status;
        setImmediate(options.onRegistrationStatus, { registered, error }, listenerGone);
        return {};
      }),
    },
  );
}

/** A header is ASCII, and not long. UTF-8 has no half of a surrogate pair. */
function encodeReason(reason: string): string {
  return encodeURIComponent(Buffer.from(reason.slice(0, MAX_REASON_LENGTH)).toString());
}

/** The registration status in protobuf's text form, as the official registrar logs it. */
function statusText({ pluginRegistered, error }: RegistrationStatus): string {
  const fields = [
    pluginRegistered ? "plugin_registered:true" : "",
    error ? `error:${JSON.stringify(error)}` : "",
  ];
  return fields.filter((field) => field !== "").join(" ");
}
