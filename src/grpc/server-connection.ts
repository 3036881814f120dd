import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { RegistrarError } from "../errors";
import { type ChunkReader, createChunkConsumer } from "./http2/chunk-reader";
import { FrameType, readFrameHeader } from "./http2/frames";
import { gatherHeaderBlock } from "./http2/header-block";

/** Most bytes of one header block from a server: what Node takes. */
const MAX_HEADER_BYTES = 65_536;

/**
 * A server's socket as an HTTP/2 client should see it: a header block comes whole or not at all. One that goes on and on
 * (CVE-2024-27983) fails an assertion in Node 20, and the process with it; here it is the end of the connection.
 * Destroying either destroys both. It never emits `error`.
 */
export function createServerConnection(socket: Socket): Duplex {
  const stream = new Duplex({
    read: () => {
      socket.resume();
    },
    write: (chunk: Buffer, _encoding, done) => {
      socket.write(chunk, () => done());
    },
    final: (done) => {
      socket.end(() => {
        done();
        // The server need not hang up on its side.
        stream.destroy();
      });
    },
    destroy: (_error, done) => {
      socket.destroy();
      // An error handed on would be emitted, in the end to a session that may be gone: an uncaught exception.
      done(null);
    },
  });
  const emit = (bytes: Buffer) => {
    if (!stream.push(bytes)) socket.pause();
  };
  const fromServer = createChunkConsumer((bytes) => forwardFrames(bytes, emit));
  socket.on("data", (chunk: Buffer) => {
    try {
      fromServer(chunk);
    } catch (error) {
      if (!(error instanceof RegistrarError)) throw error;
      stream.destroy();
    }
  });
  socket.on("end", () => stream.push(null));
  socket.on("error", () => {}); // `close` follows, and that is all there is to react to.
  socket.on("close", () => stream.destroy());
  return stream;
}

function* forwardFrames(bytes: ChunkReader, emit: (bytes: Buffer) => void): Generator<void, void, void> {
  for (;;) {
    // What else is against the rules is left to Node, which then says so.
    const frame = yield* readFrameHeader(bytes, Number.POSITIVE_INFINITY);
    if (frame.type === FrameType.HEADERS) {
      const { asSent } = yield* gatherHeaderBlock(bytes, frame, MAX_HEADER_BYTES);
      for (const piece of asSent) emit(piece);
    } else {
      emit(frame.bytes);
      yield* bytes.passOn(frame.length, emit);
    }
  }
}
