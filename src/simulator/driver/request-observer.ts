import type { Socket } from "node:net";
import { createHpackDecoder } from "../../grpc/hpack/decoder";
import { createChunkConsumer } from "../../grpc/http2/chunk-reader";
import { CLIENT_PREFACE, FrameType, MAX_FRAME_BYTES, readFrameHeader } from "../../grpc/http2/frames";
import { gatherHeaderBlock } from "../../grpc/http2/header-block";

/**
 * Reads what a client sends and reports each request's method, without its service, and `:authority` as they are on the
 * wire, because the server may replace the authority. It changes and keeps nothing, and stops reporting when the client
 * violates HTTP/2.
 */
export function observeRequests(
  socket: Socket,
  onRequest: (request: { readonly method: string; readonly authority: string }) => void,
): void {
  const decode = createHpackDecoder({ maxFields: 128, maxBytes: MAX_FRAME_BYTES });
  const consume = createChunkConsumer(function* (bytes) {
    yield* bytes.passOn(CLIENT_PREFACE.length, () => {});
    for (;;) {
      const frame = yield* readFrameHeader(bytes, MAX_FRAME_BYTES);
      if (frame.type !== FrameType.HEADERS) {
        yield* bytes.passOn(frame.length, () => {});
        continue;
      }
      const { block } = yield* gatherHeaderBlock(bytes, frame, MAX_FRAME_BYTES);
      const fields = new Map(decode(block));
      const path = fields.get(":path");
      if (path !== undefined)
        onRequest({
          method: path.slice(path.lastIndexOf("/") + 1),
          authority: fields.get(":authority") ?? "",
        });
    }
  });
  socket.on("data", (chunk: Buffer) => {
    try {
      consume(chunk);
    } catch {
      // The server closes the connection.
    }
  });
}
