import { RegistrarError } from "../../base/errors";

const NOTHING: Buffer = Buffer.alloc(0);

export type PassOn = (piece: Buffer) => void;

/** What a protocol reads its bytes with. */
export interface ChunkReader {
  /** The next bytes, 1 to `most`, as soon as one has arrived: a slice of its chunk. */
  some(most: number): Generator<void, Buffer, void>;
  /** The next `count` bytes when all have arrived: a slice if they are in one chunk, else a copy. */
  exactly(count: number): Generator<void, Buffer, void>;
  /** Hands on the next `count` bytes as they arrive, in slices. */
  passOn(count: number, pass: PassOn): Generator<void, void, void>;
}

/** A protocol that is written as if all its bytes were there. */
export type Protocol = (bytes: ChunkReader) => Generator<void, void, void>;

/** Turns a protocol into a function that takes chunks. It throws what the protocol throws, and ignores later chunks. */
export function createChunkConsumer(protocol: Protocol): (chunk: Buffer) => void {
  let unread = NOTHING;

  /** Keeps nothing of a chunk that has been read: the next may come late. */
  const take = (most: number): Buffer => {
    const piece = unread.subarray(0, most);
    unread = piece.length === unread.length ? NOTHING : unread.subarray(piece.length);
    return piece;
  };

  function* some(most: number): Generator<void, Buffer, void> {
    while (unread.length === 0) yield;
    return take(most);
  }

  function* exactly(count: number): Generator<void, Buffer, void> {
    while (unread.length === 0 && count > 0) yield;
    if (unread.length >= count) return take(count);
    const whole = Buffer.allocUnsafe(count);
    for (let filled = 0; filled < count; ) filled += (yield* some(count - filled)).copy(whole, filled);
    return whole;
  }

  function* passOn(count: number, pass: PassOn): Generator<void, void, void> {
    for (let left = count; left > 0; ) {
      const piece = yield* some(left);
      left -= piece.length;
      pass(piece);
    }
  }

  const running = protocol({ some, exactly, passOn });
  return (chunk) => {
    unread = chunk;
    running.next();
  };
}

/** The 24 bytes with which every HTTP/2 client begins (RFC 9113, section 3.4). */
export const CLIENT_PREFACE: Buffer = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/** SETTINGS_MAX_FRAME_SIZE where a server does not raise it, and Node does not (RFC 9113, section 6.5.2). */
export const MAX_FRAME_BYTES = 16_384;

export const FRAME_HEADER_BYTES = 9;

/** What stands before each gRPC message in DATA frames: a byte that says whether it is compressed, four for its length. */
export const MESSAGE_PREFIX_BYTES = 5;

/** The largest message that a gRPC client or server takes by default, kubelet too: 4 MiB. */
export const MAX_MESSAGE_BYTES = 4_194_304;

/** The frame types that matter here (RFC 9113, section 6). */
export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  GOAWAY: 7,
  CONTINUATION: 9,
} as const;

/** The flags that matter here; a bit means something only on the frame types that define it. */
export const FrameFlag = {
  END_STREAM: 0x1,
  END_HEADERS: 0x4,
  PADDED: 0x8,
  PRIORITY: 0x20,
} as const;

/** What stands before each frame's payload of `length` bytes (RFC 9113, section 4.1). */
export interface FrameHeader {
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly bytes: Buffer;
}

export function* readFrameHeader(bytes: ChunkReader, maxLength: number): Generator<void, FrameHeader, void> {
  const head = yield* bytes.exactly(FRAME_HEADER_BYTES);
  const length = head.readUIntBE(0, 3);
  if (length > maxLength) refuseFrame(`a frame of ${length} bytes, over ${maxLength}`);
  return {
    length,
    type: head.readUInt8(3),
    flags: head.readUInt8(4),
    streamId: head.readUInt32BE(5) & 0x7fff_ffff,
    bytes: Buffer.from(head), // A slice would keep the whole chunk until the rest of the frame comes.
  };
}

/** Why a connection or a stream ended, by the code in GOAWAY and RST_STREAM (RFC 9113, section 7). */
export const HTTP2_ERRORS: readonly string[] = `
NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED
FRAME_SIZE_ERROR REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM
`
  .trim()
  .split(/\s/);

/** Gives up on a peer that broke a protocol's rules or one of our bounds; `reason` goes to the log as it is. */
export function refuseFrame(reason: string): never {
  throw new RegistrarError("PROTOCOL", reason);
}

/** Most bytes of one header block: what Node takes. */
const MAX_HEADER_BYTES = 65_536;

/** As nghttp2: an endless header block is an attack (CVE-2024-27983). */
const MAX_CONTINUATION_FRAMES = 8;

/**
 * Waits for the whole header block that a HEADERS frame begins (RFC 9113, sections 4.3 and 6.10), and returns its frames: no
 * other frame may come in between. `rewrite` may change bytes of the block, which is HPACK without padding and priority.
 */
export function* gatherHeaderBlock(
  bytes: ChunkReader,
  headers: FrameHeader,
  rewrite: (block: Buffer) => void,
): Generator<void, readonly Buffer[], void> {
  const asSent: Buffer[] = [];
  const fragments: Buffer[] = [];
  let frame = headers;
  let total = 0;
  for (;;) {
    total += frame.length;
    if (total > MAX_HEADER_BYTES) refuseFrame(`a header block of more than ${MAX_HEADER_BYTES} bytes`);
    const piece = yield* bytes.exactly(frame.length);
    // While it waits for the rest of the block, a slice would keep its whole chunk.
    const payload = frame.flags & FrameFlag.END_HEADERS ? piece : Buffer.from(piece);
    asSent.push(frame.bytes, payload);
    fragments.push(frame === headers ? withoutPaddingAndPriority(frame, payload) : payload);
    if (frame.flags & FrameFlag.END_HEADERS) break;
    if (fragments.length > MAX_CONTINUATION_FRAMES) {
      refuseFrame(`more than ${MAX_CONTINUATION_FRAMES} CONTINUATION frames`);
    }
    frame = yield* readFrameHeader(bytes, MAX_FRAME_BYTES);
    if (frame.type !== FrameType.CONTINUATION || frame.streamId !== headers.streamId) {
      refuseFrame(`a frame of type ${frame.type} inside a header block`);
    }
  }
  const block = Buffer.concat(fragments);
  rewrite(block);
  let at = 0;
  for (const fragment of fragments) at += block.copy(fragment, 0, at);
  return asSent;
}

function withoutPaddingAndPriority({ flags }: FrameHeader, payload: Buffer): Buffer {
  const padded = (flags & FrameFlag.PADDED) !== 0;
  const start = (padded ? 1 : 0) + (flags & FrameFlag.PRIORITY ? 5 : 0);
  const end = payload.length - (padded ? (payload[0] ?? 0) : 0);
  if (end < start) refuseFrame("a HEADERS frame too short for its padding or priority");
  return payload.subarray(start, end);
}
