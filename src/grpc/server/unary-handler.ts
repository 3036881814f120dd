import { status } from "@grpc/grpc-js";
import { messageOf } from "../../base/errors";
import { statusCodeOf } from "../status";
import type { RequestMetadata } from "./request-fields";

export interface CallFailure {
  readonly code: status;
  readonly details: string;
}

/** What a handler knows of its call besides the request. */
export interface CallContext {
  readonly metadata: RequestMetadata;
  /** Aborted when the client cancels the call, as at its deadline, or its connection ends. */
  readonly peerGone: AbortSignal;
  /** Aborted when the listener that accepted the connection closes; undefined if its owner does not say. */
  readonly listenerGone?: AbortSignal | undefined;
  /** Sends response metadata along with the response: lower-case keys, ASCII values. */
  sendMetadata(values: Readonly<Record<string, string>>): void;
}

/** Answers one call of one method; never rejects. */
export type UnaryHandler = (
  request: unknown,
  context: CallContext,
) => Promise<{ readonly response: unknown } | CallFailure>;

/** The most characters of a status text: it is sent as a header, and peers silently drop headers over their limit. */
const MAX_STATUS_TEXT_LENGTH = 1_000;

/**
 * A server handler from a function. An error that it throws becomes the answer: its text, with its own gRPC status or
 * INTERNAL.
 */
export function unaryHandler<Request, Response>(
  handle: (request: Request, context: CallContext) => Response | Promise<Response>,
): UnaryHandler {
  return async (request, context) => {
    try {
      return { response: await handle(request as Request, context) };
    } catch (error) {
      // Through a buffer, because a header cannot contain half of a surrogate pair.
      const details = Buffer.from(messageOf(error).slice(0, MAX_STATUS_TEXT_LENGTH)).toString();
      return { code: statusCodeOf(error) ?? status.INTERNAL, details };
    }
  };
}

export interface ServedMethod {
  readonly requestDeserialize: (bytes: Buffer) => unknown;
  readonly responseSerialize: (response: never) => Buffer;
  readonly handle: UnaryHandler;
}

export async function answerOf(
  method: ServedMethod,
  message: Buffer,
  context: CallContext,
): Promise<Buffer | CallFailure> {
  let request: unknown;
  try {
    request = method.requestDeserialize(message);
  } catch {
    return { code: status.INTERNAL, details: "the request cannot be decoded" };
  }
  const answer = await method.handle(request, context);
  if (!("response" in answer)) return answer;
  try {
    return method.responseSerialize(answer.response as never);
  } catch {
    return { code: status.INTERNAL, details: "the response cannot be encoded" };
  }
}
