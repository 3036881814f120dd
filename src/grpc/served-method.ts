import { status } from "@grpc/grpc-js";
import { withMessagePrefix } from "./message-prefix";
import type { CallContext, UnaryHandler } from "./unary";
import type { CallFailure } from "./unary-request";

/** A method as a server needs it. */
export interface ServedMethod {
  readonly requestDeserialize: (bytes: Buffer) => unknown;
  readonly responseSerialize: (response: never) => Buffer;
  readonly handle: UnaryHandler;
}

/** The response as a message on the wire, or why there is none. */
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
    return withMessagePrefix(method.responseSerialize(answer.response as never));
  } catch {
    return { code: status.INTERNAL, details: "the response cannot be encoded" };
  }
}
