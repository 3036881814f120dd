import type { ChunkReader } from "./chunk-reader";
import {
  FrameFlag,
  type FrameHeader,
  FrameType,
  MAX_FRAME_BYTES,
  readFrameHeader,
  refuseFrame,
} from "./frames";

/** Most bytes of one header block: what Node takes. */
const MAX_HEADER_BYTES = 65_536;

/** As nghttp2: an endless header block is an attack (CVE-2024-27983). */
const MAX_CONTINUATION_FRAMES = 8;

/** A header block: of a HEADERS frame and the CONTINUATION frames after it. */
interface GatheredHeaderBlock {
  /** HPACK, without padding and priority: a copy. */
  readonly block: Buffer;
  /** The same bytes within `asSent`. */
  readonly fragments: readonly Buffer[];
  /** The frames, byte for byte. */
  readonly asSent: readonly Buffer[];
}

/**
 * Waits for the whole header block that a HEADERS frame begins (RFC 9113, sections 4.3 and 6.10): no other frame may
 * come in between.
 */
export function* gatherHeaderBlock(
  bytes: ChunkReader,
  headers: FrameHeader,
): Generator<void, GatheredHeaderBlock, void> {
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
    if (frame.flags & FrameFlag.END_HEADERS) return { block: Buffer.concat(fragments), fragments, asSent };

    if (fragments.length > MAX_CONTINUATION_FRAMES) {
      refuseFrame(`more than ${MAX_CONTINUATION_FRAMES} CONTINUATION frames`);
    }
    frame = yield* readFrameHeader(bytes, MAX_FRAME_BYTES);
    if (frame.type !== FrameType.CONTINUATION || frame.streamId !== headers.streamId) {
      refuseFrame(`a frame of type ${frame.type} inside a header block`);
    }
  }
}

function withoutPaddingAndPriority({ flags }: FrameHeader, payload: Buffer): Buffer {
  const padded = (flags & FrameFlag.PADDED) !== 0;
  const start = (padded ? 1 : 0) + (flags & FrameFlag.PRIORITY ? 5 : 0);
  const end = payload.length - (padded ? (payload[0] ?? 0) : 0);
  if (end < start) refuseFrame("a HEADERS frame too short for its padding or priority");
  return payload.subarray(start, end);
}
