import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { quoteGo } from "../../logging/escape";
import { type ClientBounds, createClientCalls } from "./client-calls";
import {
  type ChunkReader,
  CLIENT_PREFACE,
  FrameFlag,
  FrameType,
  gatherHeaderBlock,
  HTTP2_ERRORS,
  MAX_FRAME_BYTES,
  readFrameHeader,
  refuseFrame,
} from "./frames";
import { guardConnection } from "./guarded-connection";
import { createFieldReader } from "./header-fields";

export type GuardedClient = ReturnType<typeof guardFromClient>;

const NO_STREAM: Buffer = Buffer.alloc(4);

/**
 * Guards Node's HTTP/2 against a client of a server: against what `createClientCalls` bounds, endless header blocks, and
 * whatever is not HTTP/2. `serve` gets the stream to be served once the client has sent HTTP/2's preface: a silent client costs
 * no session. An `:authority` that Node refuses is replaced (`createFieldReader`).
 */
export function guardFromClient(socket: Socket, bounds: ClientBounds, serve: (stream: Duplex) => void) {
  const calls = createClientCalls(bounds);
  const readFields = createFieldReader();
  /** One of both said GOAWAY without an error. */
  let isLeaving = false;
  let violation: string | undefined;
  let replaced: string | undefined;
  const stream = guardConnection(socket, {
    *received(bytes, pass) {
      yield* readPreface(bytes);
      serve(stream);
      pass(CLIENT_PREFACE);
      for (;;) {
        const frame = yield* readFrameHeader(bytes, MAX_FRAME_BYTES);
        calls.received(frame);
        if (frame.type === FrameType.HEADERS) {
          const { asSent, block, fragments } = yield* gatherHeaderBlock(bytes, frame);
          const original = readFields(block);
          replaced = original ?? replaced;
          for (let at = 0, index = 0; original !== undefined && index < fragments.length; index++)
            at += block.copy(fragments[index] as Buffer, 0, at);
          for (const piece of asSent) pass(piece);
        } else {
          pass(frame.bytes);
          let left = frame.length;
          if (frame.type === FrameType.GOAWAY && left >= NO_STREAM.length) {
            isLeaving = true;
            // grpc-go names a call of its own, which nghttp2 refuses.
            left -= (yield* bytes.exactly(NO_STREAM.length)).length;
            pass(NO_STREAM);
          }
          yield* bytes.passOn(left, pass);
        }
      }
    },
    *sent(bytes) {
      for (;;) {
        const frame = yield* readFrameHeader(bytes, Number.POSITIVE_INFINITY);
        calls.sent(frame);
        if (frame.type !== FrameType.GOAWAY) yield* bytes.passOn(frame.length, () => {});
        else isLeaving ||= isGraceful(yield* bytes.exactly(frame.length));
      }
    },
    onViolation: (reason) => {
      if (!isLeaving) violation = reason;
    },
  });
  socket.once("close", calls.end);
  return {
    socket,
    calls,
    /** How the client broke HTTP/2 or a bound, for which the connection is closed; undefined if it did not. */
    violation: () => violation,
    /** The last `:authority` that was replaced, as the client sent it. */
    replacedAuthority: () => replaced,
  };
}

/** Node says in GOAWAY why it ends a connection, but leaves it open if the socket is a stream. */
function isGraceful(goaway: Buffer): true {
  const code = goaway.readUInt32BE(4);
  const text = goaway.toString("latin1", 8);
  if (code === 0) return true;
  return refuseFrame(`HTTP/2 error ${HTTP2_ERRORS[code] ?? code}${text && `: ${text}`}`);
}

/** Fails at the first wrong byte, because a client of another protocol may wait for us before it has sent 24 bytes. */
function* readPreface(bytes: ChunkReader): Generator<void, void, void> {
  let seen: Buffer = Buffer.alloc(0);
  while (seen.length < CLIENT_PREFACE.length) {
    seen = Buffer.concat([seen, yield* bytes.some(CLIENT_PREFACE.length - seen.length)]);
    if (!seen.equals(CLIENT_PREFACE.subarray(0, seen.length)))
      refuseFrame(`not HTTP/2: begins with ${quoteGo(seen.toString("latin1"))}`);
  }
}

/** An answer has two, and perhaps 1xx before them: a flood of those takes hundreds of megabytes outside of V8's heap. */
const MAX_BLOCKS_WITHOUT_END = 64;

/**
 * Guards Node's HTTP/2 against a server. A header block arrives whole or not at all: an endless one (CVE-2024-27983) fails an
 * assertion in Node 20, which ends the process. It leaves all other violations to Node, which reports them.
 */
export function guardFromServer(socket: Socket): Duplex {
  return guardConnection(socket, {
    *received(bytes, pass) {
      for (let blocks = 0; ; ) {
        const frame = yield* readFrameHeader(bytes, Number.POSITIVE_INFINITY);
        if (frame.type === FrameType.HEADERS) blocks += 1;
        if (frame.type <= FrameType.HEADERS && frame.flags & FrameFlag.END_STREAM) blocks = 0;
        if (blocks > MAX_BLOCKS_WITHOUT_END)
          refuseFrame(`${blocks} header blocks without the end of an answer`);
        if (frame.type === FrameType.HEADERS) {
          const { asSent } = yield* gatherHeaderBlock(bytes, frame);
          for (const piece of asSent) pass(piece);
        } else {
          pass(frame.bytes);
          yield* bytes.passOn(frame.length, pass);
        }
      }
    },
  });
}
