import { createHpackDecoder } from "./hpack/decoder";
import { encodeLiterals } from "./hpack/encoder";
import { type ChunkReader, createChunkConsumer } from "./http2/chunk-reader";
import {
  CLIENT_PREFACE,
  FrameFlag,
  type FrameHeader,
  FrameType,
  MAX_FRAME_BYTES,
  type ReadFrameHeader,
  readFrameHeader,
} from "./http2/frames";
import { frameHeaderBlock, gatherHeaderBlock } from "./http2/header-block";
import { refuse } from "./http2/protocol-violation";
import { passableFields } from "./request-fields";

export interface AuthorityRewriterOptions {
  /** Most bytes of one header block, both compressed and as a decoded list. */
  readonly maxHeaderBytes: number;
  /** Most fields of one header block. */
  readonly maxHeaderFields: number;
  /** Whether the server has a method of this path. */
  readonly isServed: (path: string) => boolean;
  /** Takes the bytes for the server, in order. */
  readonly emit: (bytes: Buffer) => void;
  /**
   * Told of each frame before its bytes are emitted, since the server may answer while they are. Of a header block it
   * is told the HEADERS frame only, when all of it has come.
   */
  readonly onFrame: (frame: FrameHeader) => void;
  /** Told of what a DATA frame holds, padding left away, piece by piece before each is emitted. */
  readonly onContent: (streamId: number, piece: Buffer) => void;
}

/**
 * Makes a filter for what a gRPC client sends: it replaces each `:authority` that Node's HTTP/2 would refuse. Kubelets
 * up to 1.28 (grpc-go before 1.57) send the raw path of the socket there: kubernetes/kubernetes#108254. What else it
 * changes is told in `passableFields`.
 *
 * As long as no header block needs a change, slices of the client's own bytes go through, and the server's HPACK table
 * keeps in step with the client's. From the first change on every block is encoded anew as literals, for which it does
 * not matter what the server's table holds.
 *
 * The function returned takes the client's chunks. It throws `PROTOCOL` for what is no HTTP/2, no gRPC, or over a bound.
 */
export function createAuthorityRewriter(options: AuthorityRewriterOptions): (chunk: Buffer) => void {
  const { emit, onFrame, onContent, isServed, maxHeaderBytes } = options;
  const decode = createHpackDecoder({ maxFields: options.maxHeaderFields, maxBytes: maxHeaderBytes });
  let rewriting = false;

  function* forwardHeaders(bytes: ChunkReader, headers: ReadFrameHeader): Generator<void, void, void> {
    const { block, asSent } = yield* gatherHeaderBlock(bytes, headers, maxHeaderBytes);
    const { tableSizes, fields } = decode(block);
    const passable = passableFields(fields, isServed);
    rewriting ||= passable.some((field, index) => field !== fields[index]);
    onFrame(headers);
    const frames = rewriting
      ? frameHeaderBlock(headers, encodeLiterals({ tableSizes, fields: passable }))
      : asSent;
    for (const piece of frames) emit(piece);
  }

  function* forwardData(
    bytes: ChunkReader,
    { flags, length, streamId }: FrameHeader,
  ): Generator<void, void, void> {
    let padding = 0;
    let content = length;
    if (flags & FrameFlag.PADDED && length > 0) {
      const padLength = yield* bytes.exactly(1);
      padding = padLength[0] ?? 0;
      content -= 1 + padding;
      if (content < 0) refuse("a DATA frame too short for its padding");
      emit(padLength);
    }
    yield* bytes.passOn(content, (piece) => {
      onContent(streamId, piece);
      emit(piece);
    });
    yield* bytes.passOn(padding, emit);
  }

  return createChunkConsumer(function* (bytes) {
    emit(yield* readPreface(bytes));
    for (;;) {
      const frame = yield* readFrameHeader(bytes, MAX_FRAME_BYTES);
      if (frame.type === FrameType.CONTINUATION) refuse("a CONTINUATION frame without a HEADERS frame");
      if (frame.type === FrameType.HEADERS) {
        yield* forwardHeaders(bytes, frame);
      } else {
        onFrame(frame);
        emit(frame.bytes);
        if (frame.type === FrameType.DATA) yield* forwardData(bytes, frame);
        else yield* bytes.passOn(frame.length, emit);
      }
    }
  });
}

/** Fails at the first wrong byte: who speaks another protocol is not left waiting for 24 bytes. */
function* readPreface(bytes: ChunkReader): Generator<void, Buffer, void> {
  let seen: Buffer = Buffer.alloc(0);
  while (seen.length < CLIENT_PREFACE.length) {
    seen = Buffer.concat([seen, yield* bytes.some(CLIENT_PREFACE.length - seen.length)]);
    if (!seen.equals(CLIENT_PREFACE.subarray(0, seen.length)))
      refuse(`not HTTP/2: begins with ${printable(seen)}`);
  }
  return seen;
}

/** A stranger's bytes for a log line: all but printable ASCII as `\xNN`. */
function printable(bytes: Buffer): string {
  const hex = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  return `"${bytes.toString("latin1").replace(/[^ !#-[\]-~]/g, hex)}"`;
}
