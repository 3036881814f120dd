import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { RegistrarError } from "../../base/errors";
import { createAuthorityReplacer } from "../guard/authority";
import { type ChunkReader, createChunkConsumer } from "../http2/chunk-reader";
import { CLIENT_PREFACE, FrameFlag, FrameType, readFrameHeader } from "../http2/frames";
import { gatherHeaderBlock } from "../http2/header-block";
import { refuse } from "../http2/protocol-violation";

/** Most bytes of one header block: what Node takes. */
const MAX_HEADER_BYTES = 65_536;

/** An answer has two, and perhaps 1xx before them: a flood of those takes hundreds of megabytes outside of V8's heap. */
const MAX_BLOCKS_WITHOUT_END = 64;

/**
 * A stream between a socket and Node's HTTP/2: a header block of the peer arrives whole or not at all. An endless one of a
 * server (CVE-2024-27983) fails an assertion in Node 20, which ends the process; here it ends the connection. Node 20 and
 * 24.9 also keep the descriptor of a socket whose peer violated HTTP/2, unless HTTP/2 has a stream in its place.
 *
 * Of a client, an `:authority` that Node's HTTP/2 refuses is replaced: see `createAuthorityReplacer`.
 *
 * Destroying either destroys both. When HTTP/2 ends it, the peer receives what is left and is cut off, because it may never
 * hang up. Back-pressure goes through in both directions. It never emits `error`.
 */
export function guardConnection(socket: Socket, peer: "client" | "server"): Duplex {
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
        stream.destroy();
      });
    },
    destroy: (_error, done) => {
      socket.destroy();
      // An error handed on would be emitted, in the end to a session that may be gone: an uncaught exception.
      done(null);
    },
  });
  const received = createChunkConsumer((bytes) =>
    forwardFrames(bytes, peer, (piece) => {
      if (!stream.push(piece)) socket.pause();
    }),
  );
  socket.on("data", (chunk: Buffer) => {
    try {
      received(chunk);
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

/** Leaves all other violations to Node, which reports them. */
function* forwardFrames(
  bytes: ChunkReader,
  peer: "client" | "server",
  pass: (bytes: Buffer) => void,
): Generator<void, void, void> {
  if (peer === "client") yield* bytes.passOn(CLIENT_PREFACE.length, pass);
  const replaceAuthority = createAuthorityReplacer();
  let blocks = 0;
  for (;;) {
    const frame = yield* readFrameHeader(bytes, Number.POSITIVE_INFINITY);
    if (peer === "server") {
      if (frame.type === FrameType.HEADERS) blocks += 1;
      if (frame.type <= FrameType.HEADERS && frame.flags & FrameFlag.END_STREAM) blocks = 0;
      if (blocks > MAX_BLOCKS_WITHOUT_END) refuse(`${blocks} header blocks without the end of an answer`);
    }
    if (frame.type === FrameType.HEADERS) {
      const { asSent, block, fragments } = yield* gatherHeaderBlock(bytes, frame, MAX_HEADER_BYTES);
      if (peer === "client" && replaceAuthority(block)) {
        let at = 0;
        for (const fragment of fragments) at += block.copy(fragment, 0, at);
      }
      for (const piece of asSent) pass(piece);
    } else {
      pass(frame.bytes);
      yield* bytes.passOn(frame.length, pass);
    }
  }
}
