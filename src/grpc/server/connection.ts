import type { Socket } from "node:net";
import { RegistrarError } from "../../base/errors";
import { createHpackDecoder } from "../hpack/decoder";
import { type ChunkReader, createChunkConsumer } from "../http2/chunk-reader";
import {
  CLIENT_PREFACE,
  encodeFrame,
  encodeGoaway,
  FrameFlag,
  type FrameHeader,
  FrameType,
  Http2Error,
  MAX_FRAME_BYTES,
  readFrameHeader,
} from "../http2/frames";
import { gatherHeaderBlock } from "../http2/header-block";
import { refuse } from "../http2/protocol-violation";
import { encodeSettings, parseInitialWindows, Setting } from "../http2/settings";
import { createServerCalls, type Serving } from "./calls";
import { createFrameAllowance } from "./frame-allowance";
import { callWindow } from "./unary-request";

export type ClientConnection = ReturnType<typeof createClientConnection>;

const SETTINGS_ACK = encodeFrame(FrameType.SETTINGS, FrameFlag.ACK, 0, Buffer.alloc(0));

/** Kubelet's header blocks have 200 bytes. Decoding Huffman code takes 0.2 ms a kilobyte. */
const HEADER_BYTES_OF_A_FRAME = 1_024;

/**
 * Serves a client: HTTP/2 (RFC 9113) as far as unary gRPC calls need it. It sends and keeps nothing before the client's
 * preface. Then it keeps one frame or header block, the requests, and the answers that the client does not read; while there
 * are such answers it reads nothing either.
 *
 * Node's own HTTP/2 would take tens of kilobytes for each connection, and refuses what kubelets up to 1.28 send as
 * `:authority`.
 */
export function createClientConnection(socket: Socket, serving: Serving, listenerGone?: AbortSignal) {
  const { limits } = serving;
  const decode = createHpackDecoder({ maxFields: limits.maxHeaderFields, maxBytes: limits.maxHeaderBytes });
  let isGreeted = false;
  let isLeaving = false;
  let violation: string | undefined;

  const write = (frame: Buffer) => {
    if (socket.writable) socket.write(frame);
  };
  const hangUpIfIdle = () => {
    if (isLeaving && calls.running() === 0) socket.end(() => socket.destroy());
  };
  const allowance = createFrameAllowance();
  const calls = createServerCalls({
    ...serving,
    listenerGone,
    write,
    onAnswer: allowance.renew,
    onIdle: hangUpIfIdle,
  });

  function* readData(bytes: ChunkReader, frame: FrameHeader): Generator<void, void, void> {
    const { flags, length, streamId } = frame;
    calls.data(streamId, length);
    let content = length;
    let padding = 0;
    if (flags & FrameFlag.PADDED) {
      if (length > 0) padding = (yield* bytes.exactly(1)).readUInt8();
      content -= 1 + padding;
      if (content < 0) refuse("a DATA frame too short for its padding");
    }
    yield* bytes.passOn(content, (piece) => calls.content(streamId, piece));
    yield* bytes.passOn(padding, () => {});
    if (flags & FrameFlag.END_STREAM) calls.end(streamId);
  }

  function applySettings({ flags, streamId, length }: FrameHeader, payload: Buffer): void {
    if (streamId !== 0) refuse("SETTINGS of a stream");
    const isAck = (flags & FrameFlag.ACK) !== 0;
    if (isAck && length > 0) refuse("an acknowledgement of SETTINGS that says something");
    if (isAck) return;
    for (const window of parseInitialWindows(payload)) calls.resize(window);
    if (isGreeted) write(SETTINGS_ACK);
  }

  function* readFrames(bytes: ChunkReader): Generator<void, void, void> {
    yield* readPreface(bytes);
    const first = yield* readFrameHeader(bytes, MAX_FRAME_BYTES);
    if (first.type !== FrameType.SETTINGS || first.flags & FrameFlag.ACK)
      refuse("a client that does not begin with SETTINGS");
    applySettings(first, yield* bytes.exactly(first.length));
    isGreeted = true;
    const ourSettings = encodeSettings([
      [Setting.MAX_CONCURRENT_STREAMS, limits.maxConcurrentStreams],
      [Setting.INITIAL_WINDOW_SIZE, callWindow(limits.maxMessageBytes)],
      [Setting.MAX_HEADER_LIST_SIZE, limits.maxHeaderBytes],
    ]);
    write(Buffer.concat([ourSettings, SETTINGS_ACK]));
    for (;;) {
      const frame = yield* readFrameHeader(bytes, MAX_FRAME_BYTES);
      const { type, flags, streamId, length } = frame;
      const bringsSomething = length > 0 || (flags & FrameFlag.END_STREAM) !== 0;
      if (type !== FrameType.DATA || !calls.isRunning(streamId) || !bringsSomething) allowance.spend();
      switch (type) {
        case FrameType.HEADERS: {
          const { block } = yield* gatherHeaderBlock(bytes, frame, limits.maxHeaderBytes);
          allowance.spend(Math.floor(block.length / HEADER_BYTES_OF_A_FRAME));
          calls.headers(streamId, decode(block), (flags & FrameFlag.END_STREAM) !== 0);
          break;
        }
        case FrameType.DATA:
          yield* readData(bytes, frame);
          break;
        case FrameType.RST_STREAM:
          yield* exactly(4, frame, bytes);
          calls.reset(streamId);
          break;
        case FrameType.SETTINGS:
          applySettings(frame, yield* bytes.exactly(length));
          break;
        case FrameType.PING: {
          const payload = yield* exactly(8, frame, bytes);
          if (streamId !== 0) refuse("a PING of a stream");
          if (!(flags & FrameFlag.ACK)) write(encodeFrame(FrameType.PING, FrameFlag.ACK, 0, payload));
          break;
        }
        case FrameType.WINDOW_UPDATE:
          calls.grow(streamId, (yield* exactly(4, frame, bytes)).readUInt32BE() & 0x7fff_ffff);
          break;
        case FrameType.GOAWAY:
          yield* bytes.passOn(length, () => {});
          leave();
          break;
        case FrameType.PUSH_PROMISE:
          return refuse("a PUSH_PROMISE frame of a client");
        case FrameType.CONTINUATION:
          return refuse("a CONTINUATION frame without a HEADERS frame");
        default: // HTTP/2 has given PRIORITY up, and tells to ignore unknown types (RFC 9113, section 5.5).
          yield* bytes.passOn(length, () => {});
      }
    }
  }

  /** Takes no more calls, lets running ones be answered, then hangs up. */
  function leave(): void {
    if (isLeaving) return;
    isLeaving = true;
    calls.close();
    if (isGreeted) write(encodeGoaway(calls.newestStream(), Http2Error.NO_ERROR));
    hangUpIfIdle();
  }

  const received = createChunkConsumer(readFrames);
  socket.on("data", (chunk: Buffer) => {
    socket.cork();
    try {
      received(chunk);
    } catch (error) {
      if (!(error instanceof RegistrarError)) throw error;
      violation = error.message;
      if (isGreeted) write(encodeGoaway(calls.newestStream(), Http2Error.PROTOCOL_ERROR, violation));
    }
    socket.uncork(); // Writes at once, as far as the client has read.
    if (violation !== undefined) socket.destroy();
    if (socket.writableNeedDrain) socket.pause();
  });
  socket.on("drain", () => socket.resume());
  socket.on("error", () => {}); // `close` follows.
  socket.on("close", () => calls.abort());

  return {
    socket,
    calls,
    /** How the client broke HTTP/2 or a bound, for which the connection is closed; undefined if it did not. */
    get violation() {
      return violation;
    },
    leave,
  };
}

/** The payload of a frame that may have one length only. */
function* exactly(count: number, frame: FrameHeader, bytes: ChunkReader): Generator<void, Buffer, void> {
  if (frame.length !== count) refuse(`a frame of type ${frame.type} with ${frame.length} bytes`);
  return yield* bytes.exactly(count);
}

/** Fails at the first wrong byte, because a client of another protocol may wait for us before it has sent 24 bytes. */
function* readPreface(bytes: ChunkReader): Generator<void, void, void> {
  let seen: Buffer = Buffer.alloc(0);
  while (seen.length < CLIENT_PREFACE.length) {
    seen = Buffer.concat([seen, yield* bytes.some(CLIENT_PREFACE.length - seen.length)]);
    if (!seen.equals(CLIENT_PREFACE.subarray(0, seen.length)))
      refuse(`not HTTP/2: begins with ${printable(seen)}`);
  }
}

/** Bytes for a log line: all but printable ASCII as `\xNN`. */
function printable(bytes: Buffer): string {
  const hex = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  return `"${bytes.toString("latin1").replace(/[^ !#-[\]-~]/g, hex)}"`;
}
