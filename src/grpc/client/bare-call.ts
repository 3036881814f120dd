import { connect as connectHttp2, constants, type IncomingHttpHeaders } from "node:http2";
import { connect } from "node:net";
import { MAX_MESSAGE_BYTES, MESSAGE_PREFIX_BYTES } from "../guard/frames";
import { guardFromServer } from "../guard/guards";

interface BareAnswer {
  readonly headers: IncomingHttpHeaders;
  readonly grpcStatus: string;
  readonly message: Buffer;
}

/**
 * Calls a unary method with an empty message over bare HTTP/2, for processes that ask once and end: loading the gRPC library
 * takes longer. Rejects when the server does not listen, does not answer within `timeoutMs`, closes the connection, or
 * answers more than `MAX_MESSAGE_BYTES`.
 */
export function bareCall(
  socketPath: string,
  path: string,
  { timeoutMs, fields = {} }: { readonly timeoutMs: number; readonly fields?: Record<string, string> },
): Promise<BareAnswer> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2("http://localhost", {
      createConnection: () => guardFromServer(connect({ path: socketPath })),
    });
    const fail = (problem: string) => {
      reject(new Error(problem));
      session.destroy();
    };
    const timer = setTimeout(() => fail(`no answer within ${timeoutMs} ms`), timeoutMs);
    session.on("error", reject);
    session.on("close", () => {
      clearTimeout(timer);
      fail("the connection was closed");
    });
    const request = session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: path,
      [constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc",
      [constants.HTTP2_HEADER_TE]: "trailers",
      ...fields,
    });
    let headers: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    let room = MESSAGE_PREFIX_BYTES + MAX_MESSAGE_BYTES;
    const chunks: Buffer[] = [];
    request.on("error", reject);
    request.on("response", (received) => {
      headers = received;
    });
    request.on("trailers", (received) => {
      trailers = received;
    });
    request.on("data", (chunk: Buffer) => {
      room -= chunk.length;
      if (room >= 0) chunks.push(chunk);
      else fail(`an answer of more than ${MAX_MESSAGE_BYTES} bytes`);
    });
    request.on("end", () => {
      const grpcStatus = trailers["grpc-status"] ?? headers["grpc-status"];
      if (grpcStatus === undefined) return fail("an answer without a status");
      const message = Buffer.concat(chunks).subarray(MESSAGE_PREFIX_BYTES);
      resolve({ headers, grpcStatus: String(grpcStatus), message });
      session.destroy();
    });
    request.end(Buffer.alloc(MESSAGE_PREFIX_BYTES));
  });
}
