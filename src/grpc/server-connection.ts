import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { guardSocket } from "./guarded-socket";
import { type ChunkReader, createChunkConsumer } from "./http2/chunk-reader";
import { FrameType, readFrameHeader } from "./http2/frames";
import { gatherHeaderBlock } from "./http2/header-block";

/** Most bytes of one header block from a server: what Node takes. */
const MAX_HEADER_BYTES = 65_536;

/**
 * A server's socket as an HTTP/2 client should see it: a header block comes whole or not at all. One that goes on and on
 * (CVE-2024-27983) fails an assertion in Node 20, and the process with it; here it is the end of the connection.
 */
export function createServerConnection(socket: Socket): Duplex {
  return guardSocket(socket, (pass) => ({
    received: createChunkConsumer((bytes) => forwardFrames(bytes, pass)),
  }));
}

function* forwardFrames(bytes: ChunkReader, pass: (bytes: Buffer) => void): Generator<void, void, void> {
  for (;;) {
    // What else is against the rules is left to Node, which then says so.
    const frame = yield* readFrameHeader(bytes, Number.POSITIVE_INFINITY);
    if (frame.type === FrameType.HEADERS) {
      const { asSent } = yield* gatherHeaderBlock(bytes, frame, MAX_HEADER_BYTES);
      for (const piece of asSent) pass(piece);
    } else {
      pass(frame.bytes);
      yield* bytes.passOn(frame.length, pass);
    }
  }
}
