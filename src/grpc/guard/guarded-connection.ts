import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { RegistrarError } from "../../base/errors";
import { type ChunkReader, createChunkConsumer } from "./frames";

/** A protocol's reader: hands on what it has judged, and throws `PROTOCOL` to end the connection. */
type GuardReader = (bytes: ChunkReader, pass: (piece: Buffer) => void) => Generator<void, void, void>;

interface Guard {
  readonly received: GuardReader;
  /** Sees what HTTP/2 sends, which arrives as it is. */
  readonly sent?: GuardReader;
  /** Called if one of them throws, or if HTTP/2 ends the connection before its peer does, and before it is closed. */
  readonly onViolation?: (reason: string) => void;
}

/** A peer that has hung up gets the answers to its last calls within this time. */
const CUT_AFTER_END_MS = 2_000;

/**
 * A stream between a socket and Node's HTTP/2, with a guard that reads what passes. Node 20 and 24.9 keep the descriptor of a
 * socket whose peer violated HTTP/2, unless HTTP/2 has a stream in its place.
 *
 * Destroying either destroys both. When HTTP/2 ends it, the peer receives what is left and is cut off, because it may never
 * hang up. Back-pressure goes through in both directions. It never emits `error`.
 */
export function guardConnection(socket: Socket, { received, sent, onViolation }: Guard): Duplex {
  let hasEnded = false;
  let isStuck = false;
  /** For the first reason. */
  const fail = (reason: string) => {
    if (!hasEnded) onViolation?.(reason);
    hasEnded = true;
  };
  const stream = new Duplex({
    read: () => {
      if (!isStuck) socket.resume();
    },
    write: (chunk: Buffer, _encoding, done) => {
      const isLast = see !== undefined && !judge(see, chunk);
      // HTTP/2 reads on while it cannot write, and keeps the answers.
      socket.write(chunk, () => {
        isStuck = false;
        if (isLast) stream.destroy();
        else socket.resume();
        done();
      });
      isStuck = socket.writableLength > 0;
      if (isStuck) socket.pause();
    },
    final: (done) => {
      fail("HTTP/2 error");
      socket.end(() => {
        done();
        stream.destroy();
      });
    },
    destroy: (_error, done) => {
      if (!socket.destroyed) fail("HTTP/2 error");
      socket.destroy();
      // An error handed on would be emitted, in the end to a session that may be gone: an uncaught exception.
      done(null);
    },
  });
  const push = (piece: Buffer) => {
    if (!stream.push(piece)) socket.pause();
  };
  const receive = createChunkConsumer((bytes) => received(bytes, push));
  const see = sent && createChunkConsumer((bytes) => sent(bytes, () => {}));

  /** Whether the guard lets the connection live. */
  function judge(consume: (chunk: Buffer) => void, chunk: Buffer): boolean {
    try {
      consume(chunk);
      return true;
    } catch (error) {
      if (!(error instanceof RegistrarError)) throw error;
      fail(error.message);
      return false;
    }
  }
  socket.on("data", (chunk: Buffer) => {
    if (!judge(receive, chunk)) stream.destroy();
  });
  socket.on("end", () => {
    hasEnded = true;
    stream.push(null);
    // Node 26 may leave a session open whose client was cut off in the middle.
    const cut = setTimeout(() => stream.destroy(), CUT_AFTER_END_MS).unref();
    socket.once("close", () => clearTimeout(cut));
  });
  socket.on("error", () => {}); // `close` follows, and that is all there is to react to.
  socket.on("close", () => stream.destroy());
  return stream;
}
