import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { RegistrarError } from "../errors";

/** Looks at what passes between a socket and Node's HTTP/2. */
export interface SocketGuard {
  /** Bytes of the peer, to be passed on as far as they may be. A RegistrarError that it throws ends the connection. */
  received(chunk: Buffer): void;
  /** The peer sends no more. */
  receivedAll?(): void;
  /** Why the connection ends, when `received` has thrown. */
  broken?(reason: string): void;
  /** Bytes that are about to go to the peer. */
  sending?(chunk: Buffer): void;
  /** They have gone; true where that was the end. */
  isOver?(): boolean;
  /** HTTP/2 sends no more. */
  sentAll?(): void;
}

/**
 * Stands for a socket, with a guard between. Destroying either destroys both; when HTTP/2 ends it, the peer is sent what
 * is left and then cut off, for it need not hang up on its side, and could hold the descriptor as long as it likes.
 * Back-pressure goes through in both directions. It never emits `error`.
 */
export function guardSocket(
  socket: Socket,
  createGuard: (pass: (bytes: Buffer) => void) => SocketGuard,
): Duplex {
  const stream = new Duplex({
    read: () => {
      socket.resume();
    },
    write: (chunk: Buffer, _encoding, done) => {
      guard.sending?.(chunk);
      socket.write(chunk, () => {
        done();
        if (guard.isOver?.()) stream.destroy();
      });
    },
    final: (done) => {
      guard.sentAll?.();
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
  const guard = createGuard((bytes) => {
    if (!stream.push(bytes)) socket.pause();
  });

  socket.on("data", (chunk: Buffer) => {
    try {
      guard.received(chunk);
    } catch (error) {
      if (!(error instanceof RegistrarError)) throw error;
      guard.broken?.(error.message);
      stream.destroy();
    }
  });
  socket.on("end", () => {
    guard.receivedAll?.();
    stream.push(null);
  });
  socket.on("error", () => {}); // `close` follows, and that is all there is to react to.
  socket.on("close", () => stream.destroy());
  return stream;
}
