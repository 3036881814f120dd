import { once } from "node:events";
import { connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { connect } from "node:net";
import { MAX_MESSAGE_BYTES, MESSAGE_PREFIX_BYTES } from "../guard/frames";
import { guardFromServer } from "../guard/guards";

/**
 * Calls a unary method with an empty message over bare HTTP/2, for processes that ask once and end: loading the gRPC library
 * takes longer. Rejects when the server does not listen, does not answer within `timeoutMs`, closes the connection, or
 * answers more than `MAX_MESSAGE_BYTES`.
 */
export async function bareCall(
  socketPath: string,
  path: string,
  { timeoutMs, fields = {} }: { readonly timeoutMs: number; readonly fields?: Record<string, string> },
) {
  const session = connectHttp2("http://localhost", {
    createConnection: () => guardFromServer(connect({ path: socketPath })),
  });
  const closed = new AbortController();
  session.on("error", () => {}); // The request fails, too.
  const timer = setTimeout(() => session.destroy(), timeoutMs);
  try {
    const grpc = { ":method": "POST", "content-type": "application/grpc", te: "trailers" };
    const request = session.request({ ...grpc, ":path": path, ...fields });
    let trailers: IncomingHttpHeaders = {};
    request
      .on("error", () => {})
      .once("close", () => closed.abort()) // Also of a stream that the server reset before it answered.
      .once("trailers", (received) => {
        trailers = received;
      });
    request.end(Buffer.alloc(MESSAGE_PREFIX_BYTES));
    const [headers = {}]: IncomingHttpHeaders[] = await once(request, "response", { signal: closed.signal });
    const chunks: Buffer[] = [];
    let room = MESSAGE_PREFIX_BYTES + MAX_MESSAGE_BYTES;
    for await (const chunk of request) {
      room -= chunk.length;
      if (room < 0) throw new Error(`an answer of more than ${MAX_MESSAGE_BYTES} bytes`);
      chunks.push(chunk);
    }
    const grpcStatus = trailers["grpc-status"] ?? headers["grpc-status"];
    if (grpcStatus === undefined) throw new Error("an answer without a status");
    return {
      headers,
      grpcStatus: String(grpcStatus),
      message: Buffer.concat(chunks).subarray(MESSAGE_PREFIX_BYTES),
    };
  } finally {
    clearTimeout(timer);
    session.destroy();
  }
}
