import { Metadata, type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import { messageOf } from "../base/errors";
import { statusCodeOf } from "./status";

/** What a handler knows of its call besides the request. */
export interface CallContext {
  /** The values of a metadata key in lower case; none if it was not sent. */
  readonly metadata: (key: string) => readonly string[];
  /** Aborted when the client cancels the call, its deadline passes, or its connection ends, while the call runs. */
  readonly peerGone: AbortSignal;
  /** Sends response metadata ahead of the response: lower-case keys, ASCII values. */
  sendMetadata(values: Readonly<Record<string, string>>): void;
}

/** The most characters of a status text: it is sent as a header, and peers silently drop headers over their limit. */
const MAX_STATUS_TEXT_LENGTH = 1_000;

/**
 * A handler for grpc-js' server from a function. An error that it throws becomes the answer: its text, with its own gRPC
 * status or INTERNAL.
 */
export function unaryHandler<Request, Response>(
  handle: (request: Request, context: CallContext) => Response | Promise<Response>,
) {
  return (call: ServerUnaryCall<Request, Response>, answer: sendUnaryData<Response>): void => {
    const peerGone = new AbortController();
    const abort = () => peerGone.abort();
    // grpc-js tells of the end of each call like that, an answered one too.
    call.once("cancelled", abort);
    const run = async () =>
      handle(call.request, {
        metadata: (key) => call.metadata.get(key).map(String),
        peerGone: peerGone.signal,
        sendMetadata: (values) => call.sendMetadata(Metadata.fromHttp2Headers(values)),
      });
    run()
      .finally(() => call.off("cancelled", abort))
      .then(
        (response) => answer(null, response),
        (error) => {
          // Through a buffer, because a header cannot contain half of a surrogate pair.
          const details = Buffer.from(messageOf(error).slice(0, MAX_STATUS_TEXT_LENGTH)).toString();
          answer({ code: statusCodeOf(error) ?? status.INTERNAL, details });
        },
      )
      .catch(() => {}); // The client is gone.
  };
}
