import { Metadata, type Server, status } from "@grpc/grpc-js";
import type { EventOf } from "../../base/event-source";
import { startImmediate } from "../../base/pause";
import type { GuardedClient } from "../../grpc/guard/guards";
import { unaryHandler } from "../../grpc/handlers";
import { registrationMethods } from "../../grpc/methods";
import type { RegistrationStatus } from "../../grpc/protos";
import { createSmallServer } from "../../grpc/server";
import { boundText } from "../../logging/escape";
import type { Logger } from "../../logging/logger";
import type { Publication } from "../../unix/socket-file";
import type { RegistrationEvent } from "../model/events";
import type { ResolvedOptions } from "../model/options";
import type { infoAnswer } from "./decisions";
import { encodeReport, REPORT_KEY, type RegistrationReport, SELF_CHECK_KEY } from "./self-report";

type KubeletCall = EventOf<RegistrationEvent, "get-info" | "registration-status">;

/** A call of kubelet's: over the socket of which publication, and by which client. */
export interface Caller {
  readonly publication: Publication | undefined;
  readonly client: GuardedClient;
}

export interface RegistrationCalls {
  /** What a self-check gets, whatever the state. */
  readonly report: () => { readonly name: string; readonly report: RegistrationReport };
  /** What kubelet gets from GetInfo over the socket of `publication`. */
  readonly answer: (publication: Publication | undefined) => ReturnType<typeof infoAnswer>;
  readonly onCall: (call: KubeletCall, caller: Caller) => void;
  /** The client's connection has ended. */
  readonly onEnd: (caller: Caller) => void;
}

/**
 * Creates gRPC servers with kubelet's `Registration` service, one for each connection, because grpc-js does not tell a handler
 * over which its call came. The listeners run after the answer, so that kubelet gets it even if a refusal ends this process.
 */
export function createRegistrationService(
  { type, supportedVersions, endpoint }: ResolvedOptions,
  calls: RegistrationCalls,
  log: Logger,
) {
  let lastError = "";
  return (publication: Publication | undefined, client: GuardedClient): Server => {
    const server = createSmallServer({ log });
    const caller = { publication, client };
    client.socket.once("close", () => calls.onEnd(caller));
    server.addService(registrationMethods, {
      GetInfo: unaryHandler<object, object>((_request, { metadata, sendMetadata }) => {
        if (metadata.get(SELF_CHECK_KEY).length > 0) {
          const { name, report } = calls.report();
          sendMetadata(Metadata.fromHttp2Headers({ [REPORT_KEY]: encodeReport(report) }));
          return { type, name, endpoint, supportedVersions };
        }
        log.v(4).info("Received GetInfo call", { request: "" });
        const answer = calls.answer(publication);
        if ("whyNot" in answer) throw Object.assign(new Error(answer.whyNot), { code: status.UNAVAILABLE });
        startImmediate(calls.onCall, { kind: "get-info" }, caller);
        return { type, name: answer.name, endpoint, supportedVersions };
      }),
      NotifyRegistrationStatus: unaryHandler<RegistrationStatus, object>((received) => {
        const { pluginRegistered: registered } = received;
        // Kubelet may quote the driver's text, which may have megabytes.
        const error = boundText(received.error);
        const repeats = error !== "" && error === lastError;
        lastError = error;
        // In protobuf's text form, as the official registrar logs it.
        const fields = [registered && "plugin_registered:true", error && `error:${JSON.stringify(error)}`];
        const status = fields.filter(Boolean).join(" ");
        log.v(repeats ? 4 : 0).info("Received NotifyRegistrationStatus call", { status });
        startImmediate(calls.onCall, { kind: "registration-status", registered, error }, caller);
        return {};
      }),
    });
    return server;
  };
}
