import { getSystemErrorMap } from "node:util";
import type { ServiceError } from "@grpc/grpc-js";
import { messageOf } from "../base/errors";
import { HTTP2_ERRORS } from "../grpc/http2/frames";
import { grpcCodeName } from "../grpc/status";

/**
 * A failed call in the words of grpc-go, kubelet's gRPC library: registrars get these texts as the reason of a refusal,
 * and people search for them. `rpc error: code = Unavailable desc = connection error: ...`.
 */
export function goRpcError(error: unknown, socketPath: string): string {
  const { code, details } = error as Partial<ServiceError>;
  if (typeof code !== "number" || details === undefined) return messageOf(error);
  return `rpc error: code = ${grpcCodeName(code)} desc = ${goDescription(details, socketPath)}`;
}

/** grpc-js' own errors, which the server did not send, in grpc-go's words. */
function goDescription(details: string, socketPath: string): string {
  if (details.startsWith("Deadline exceeded")) return "context deadline exceeded";
  if (details.startsWith("No connection established")) {
    const errno = /connect (?<errno>E[A-Z0-9]+)/.exec(details)?.groups?.errno;
    // Of the errors that connect(2) usually gives, libuv has the same texts as Go.
    const [, text = errno] = [...getSystemErrorMap().values()].find(([name]) => name === errno) ?? [];
    const why =
      errno === undefined ? "error reading server preface: EOF" : `dial unix ${socketPath}: connect: ${text}`;
    return `connection error: desc = "transport: Error while dialing: ${why}"`;
  }
  if (details.startsWith("Connection dropped")) return "error reading from server: EOF";
  if (details.includes("RST_STREAM")) {
    const h2Code = Number(/code (?<code>\d+)/.exec(details)?.groups?.code);
    return `stream terminated by RST_STREAM with error code: ${HTTP2_ERRORS[h2Code] ?? h2Code}`;
  }
  return details;
}
