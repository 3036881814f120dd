import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { RegistrarError } from "../../base/errors";
import { quoteGo } from "../../logging/escape";
import { type ClientBounds, createCallAllowance } from "./call-allowance";
import {
  type ChunkReader,
  CLIENT_PREFACE,
  createChunkConsumer,
  FrameFlag,
  type FrameHeader,
  FrameType,
  gatherHeaderBlock,
  HTTP2_ERRORS,
  MAX_FRAME_BYTES,
  type PassOn,
  type Protocol,
  readFrameHeader,
  refuseFrame,
} from "./frames";
import { createFieldReader } from "./header-fields";

type Reading = Generator<void, void, void>;

export type GuardedClient = ReturnType<typeof guardFromClient>;

const STREAM_ID_BYTES = 4;

/**
 * Guards Node's HTTP/2 against a client of a server: against what `createCallAllowance` bounds, endless header blocks, and
 * whatever is not HTTP/2. `serve` gets the stream to be served once the client has sent HTTP/2's preface: a silent client costs
 * no session. An `:authority` that Node refuses is replaced (`createFieldReader`).
 */
export function guardFromClient(socket: Socket, bounds: ClientBounds, serve: (stream: Duplex) => void) {
  const calls = createCallAllowance(bounds);
  const readFields = createFieldReader();
  /** One of both said GOAWAY without an error. */
  let isLeaving = false;
  let violation: string | undefined;
  let authority: string | undefined;
  const rewrite = (block: Buffer) => {
    authority = readFields(block) ?? authority;
  };
  const stream = guardConnection(socket, {
    *received(bytes, pass) {
      yield* readPreface(bytes);
      serve(stream);
      pass(CLIENT_PREFACE);
      for (;;) {
        const frame = yield* readFrameHeader(bytes, MAX_FRAME_BYTES);
        calls.received(frame);
        if (frame.type === FrameType.GOAWAY && frame.length >= STREAM_ID_BYTES) {
          isLeaving = true;
          pass(frame.bytes);
          yield* bytes.exactly(STREAM_ID_BYTES);
          pass(Buffer.alloc(STREAM_ID_BYTES)); // grpc-go names a call of its own, which nghttp2 refuses.
          yield* bytes.passOn(frame.length - STREAM_ID_BYTES, pass);
        } else yield* passFrame(bytes, frame, pass, rewrite);
      }
    },
    *sent(bytes) {
      for (;;) {
        const frame = yield* readFrameHeader(bytes, Number.POSITIVE_INFINITY);
        calls.sent(frame);
        if (frame.type === FrameType.GOAWAY) {
          refuseError(yield* bytes.exactly(frame.length));
          isLeaving = true;
        } else yield* bytes.passOn(frame.length, () => {});
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
    /** The `:authority` of the client's last call, as it was sent; undefined before. */
    authority: () => authority,
  };
}

/** Passes on a frame; a header block whole or not at all. */
function* passFrame(
  bytes: ChunkReader,
  frame: FrameHeader,
  pass: PassOn,
  rewrite: (block: Buffer) => void = () => {},
): Reading {
  if (frame.type === FrameType.HEADERS) {
    for (const piece of yield* gatherHeaderBlock(bytes, frame, rewrite)) pass(piece);
  } else {
    pass(frame.bytes);
    yield* bytes.passOn(frame.length, pass);
  }
}

/** Node says in GOAWAY why it ends a connection, but leaves it open if the socket is a stream. */
function refuseError(goaway: Buffer): void {
  const code = goaway.readUInt32BE(4);
  const text = goaway.toString("latin1", 8);
  if (code !== 0) refuseFrame(`HTTP/2 error ${HTTP2_ERRORS[code] ?? code}${text && `: ${text}`}`);
}

/** Fails at the first wrong byte, because a client of another protocol may wait for us before it has sent 24 bytes. */
function* readPreface(bytes: ChunkReader): Reading {
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
        yield* passFrame(bytes, frame, pass);
      }
    },
  });
}

interface Guard {
  /** Passes on what it has judged. Throws `PROTOCOL` to end the connection, as `sent` does. */
  readonly received: (bytes: ChunkReader, pass: PassOn) => Reading;
  /** Sees what HTTP/2 sends, which arrives as it is. */
  readonly sent?: Protocol;
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
function guardConnection(socket: Socket, { received, sent, onViolation }: Guard): Duplex {
  let hasEnded = false;
  const isStuck = () => socket.writableLength > 0;
  /** For the first reason. */
  const fail = (reason: string) => {
    if (!hasEnded) onViolation?.(reason);
    hasEnded = true;
  };
  const stream = new Duplex({
    read: () => {
      if (!isStuck()) socket.resume();
    },
    write: (chunk: Buffer, _encoding, done) => {
      const isLast = !judge(see, chunk);
      // HTTP/2 reads on while it cannot write, and keeps the answers.
      socket.write(chunk, () => {
        if (isLast) stream.destroy();
        else socket.resume();
        done();
      });
      if (isStuck()) socket.pause();
    },
    final: (done) => {
      fail("HTTP/2 error");
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
  const push = (piece: Buffer) => {
    if (!stream.push(piece)) socket.pause();
  };
  const receive = createChunkConsumer((bytes) => received(bytes, push));
  const see = sent ? createChunkConsumer(sent) : () => {};

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
  socket.on("error", () => {}); // `close` follows.
  socket.on("close", () => stream.destroy());
  return stream;
}
