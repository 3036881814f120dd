import { connect as connectHttp2, constants, type IncomingHttpHeaders } from "node:http2";
import { connect } from "node:net";
import { MAX_MESSAGE_BYTES, MESSAGE_PREFIX_BYTES } from "../http2/frames";
import { guardConnection } from "./guarded-connection";

/** What a server answers. */
export interface BareAnswer {
  readonly headers: IncomingHttpHeaders;
  readonly grpcStatus: string;
  readonly message: Buffer;
}

/**
 * Calls a unary method with an empty message over bare HTTP/2, without the gRPC library and what that takes to load: for
 * processes that ask once and end. Rejects where nobody listens, answers within `timeoutMs`, or holds the connection, and
 * for an answer of more than `MAX_MESSAGE_BYTES`.
 */
export function bareCall(
  socketPath: string,
  path: string,
  { timeoutMs, fields = {} }: { readonly timeoutMs: number; readonly fields?: Record<string, string> },
): Promise<BareAnswer> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2("http://localhost", {
      createConnection: () => guardConnection(connect({ path: socketPath }), "server"),
    });
    const timer = setTimeout(() => {
      reject(new Error(`no answer within ${timeoutMs} ms`));
      session.destroy();
    }, timeoutMs);
    session.on("error", reject);
    session.on("close", () => {
      clearTimeout(timer);
      reject(new Error("the connection was closed"));
    });
    const request = session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: path,
      [constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc",
      [constants.HTTP2_HEADER_TE]: "trailers",
      ...fields,
    });
    let headers: IncomingHttpHeaders = {};
    let last: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    request.on("error", reject);
    request.on("response", (received) => {
      headers = last = received;
    });
    let room = MESSAGE_PREFIX_BYTES + MAX_MESSAGE_BYTES;
    request.on("data", (chunk: Buffer) => {
      room -= chunk.length;
      if (room >= 0) chunks.push(chunk);
      else session.destroy(new Error(`an answer of more than ${MAX_MESSAGE_BYTES} bytes`));
    });
    request.on("trailers", (received) => {
      last = received;
    });
    request.on("end", () => {
      if (last["grpc-status"] === undefined)
        return void session.destroy(new Error("an answer without a status"));
      const message = Buffer.concat(chunks).subarray(MESSAGE_PREFIX_BYTES);
      resolve({ headers, grpcStatus: String(last["grpc-status"]), message });
      session.destroy();
    });
    request.end(Buffer.alloc(MESSAGE_PREFIX_BYTES));
  });
}
