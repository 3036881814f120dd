import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { messageOf } from "../errors";
import { createAuthorityRewriter } from "./authority";
import { type CallLedger, createCallLedger } from "./call-ledger";
import { createChunkConsumer } from "./chunk-reader";
import { readFrameHeader } from "./http2-frames";

export interface ClientConnectionOptions {
  readonly maxHeaderBytes: number;
  readonly maxHeaderFields: number;
  /** The client broke HTTP/2 or a bound; the connection is being closed because of it. */
  readonly onViolation: (reason: string) => void;
}

/** A client's socket as an HTTP/2 server should see it. */
export interface ClientConnection {
  /**
   * Stands for the socket: bytes from the client have passed the authority rewriter. Destroying either destroys both;
   * when the server ends it, the client is sent what is left and then cut. It never emits `error`.
   */
  readonly stream: Duplex;
  readonly calls: Pick<CallLedger, "everCalled" | "running">;
}

/**
 * Puts the authority rewriter between a client's socket and an HTTP/2 server. Back-pressure goes through in both
 * directions: nothing is buffered here but a header block and what the streams' own high-water marks allow.
 *
 * Even a connection that needs no rewriting must go this way: for one that breaks HTTP/2 on a bare socket, Node 20.20
 * and 24.9 keep the file descriptor for ever.
 */
export function createClientConnection(socket: Socket, options: ClientConnectionOptions): ClientConnection {
  const calls = createCallLedger();

  const stream = new Duplex({
    read: () => {
      socket.resume();
    },
    write: (chunk: Buffer, _encoding, done) => {
      fromServer(chunk);
      socket.write(chunk, () => done());
    },
    final: (done) => {
      socket.end(() => {
        done();
        // A client that does not close its side would keep the descriptor.
        stream.destroy();
      });
    },
    destroy: (_error, done) => {
      socket.destroy();
      // An error handed on here would surface in a session that may be gone, as an uncaught exception.
      done(null);
    },
  });

  const fromClient = createAuthorityRewriter({
    ...options,
    emit: (bytes) => {
      if (!stream.push(bytes)) socket.pause();
    },
    onFrame: calls.fromClient,
  });

  const fromServer = createChunkConsumer(function* (bytes) {
    for (;;) {
      const frame = yield* readFrameHeader(bytes, Number.POSITIVE_INFINITY);
      yield* bytes.passOn(frame.length, () => {});
      calls.fromServer(frame);
    }
  });

  socket.on("data", (chunk: Buffer) => {
    try {
      fromClient(chunk);
    } catch (error) {
      options.onViolation(messageOf(error));
      stream.destroy();
    }
  });
  socket.on("end", () => stream.push(null));
  socket.on("error", () => {}); // `close` follows and says all there is to do.
  socket.on("close", () => stream.destroy());

  return { stream, calls };
}
