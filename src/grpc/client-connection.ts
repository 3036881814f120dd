import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type AuthorityRewriterOptions, createAuthorityRewriter } from "./authority";
import { type CallLedger, createCallLedger } from "./call-ledger";
import { guardSocket } from "./guarded-socket";
import { createChunkConsumer } from "./http2/chunk-reader";
import { FrameType, parseGoawayError, readFrameHeader } from "./http2/frames";

/** A client's socket as an HTTP/2 server should see it. */
export interface ClientConnection {
  /** Stands for the socket (`guardSocket`): what the client sends has passed the authority rewriter. */
  readonly stream: Duplex;
  readonly calls: Pick<CallLedger, "everCalled" | "running">;
  /** How the client broke HTTP/2 or a bound, for which the connection is closed; undefined while it did not. */
  readonly violation: string | undefined;
}

/**
 * Puts the authority rewriter between a client's socket and an HTTP/2 server. Nothing waits here but a header block and
 * what the streams' own high-water marks allow.
 *
 * A connection that needs no rewriting must go this way too: for one that breaks HTTP/2 on a bare socket, Node 20.20
 * and 24.9 keep the file descriptor for ever.
 */
export function createClientConnection(
  socket: Socket,
  options: Pick<AuthorityRewriterOptions, "maxHeaderBytes" | "maxHeaderFields" | "isServed">,
): ClientConnection {
  const calls = createCallLedger();
  let clientLeaves = false;
  let serverGaveUp = false;
  let endsInOrder = false;
  let violation: string | undefined;

  const fromServer = createChunkConsumer(function* (bytes) {
    for (;;) {
      const frame = yield* readFrameHeader(bytes, Number.POSITIVE_INFINITY);
      calls.fromServer(frame);
      if (frame.type === FrameType.GOAWAY) {
        const error = parseGoawayError(yield* bytes.exactly(frame.length));
        serverGaveUp ||= error !== undefined;
        // A client that leaves did nothing wrong: Node answers INTERNAL_ERROR even to grpc-go's own GOAWAY.
        if (error !== undefined && !clientLeaves) violation ??= `refused by Node's HTTP/2: ${error}`;
        endsInOrder = true;
      } else {
        yield* bytes.passOn(frame.length, () => {});
      }
    }
  });

  const stream = guardSocket(socket, (pass) => ({
    received: createAuthorityRewriter({
      ...options,
      emit: pass,
      onFrame: (frame) => {
        calls.fromClient(frame);
        clientLeaves ||= frame.type === FrameType.GOAWAY;
      },
      onContent: calls.contentFromClient,
    }),
    receivedAll: () => {
      endsInOrder = true;
    },
    broken: (reason) => {
      violation ??= reason;
    },
    sending: fromServer,
    // Node says goodbye to a client that broke the rules, but then waits for it to hang up.
    isOver: () => serverGaveUp,
    sentAll: () => {
      // Node 26 hangs up on a client that broke the rules without a word.
      if (!clientLeaves && !endsInOrder) violation ??= "refused by Node's HTTP/2";
    },
  }));

  return {
    stream,
    calls,
    get violation() {
      return violation;
    },
  };
}
