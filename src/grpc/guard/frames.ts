import { RegistrarError } from "../../base/errors";
import type { ChunkReader } from "./chunk-reader";

/** The 24 bytes with which every HTTP/2 client begins (RFC 9113, section 3.4). */
export const CLIENT_PREFACE: Buffer = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/** SETTINGS_MAX_FRAME_SIZE where a server does not raise it, and Node does not (RFC 9113, section 6.5.2). */
export const MAX_FRAME_BYTES = 16_384;

export const FRAME_HEADER_BYTES = 9;

/** What stands before each gRPC message in DATA frames: a byte that says whether it is compressed, four for its length. */
export const MESSAGE_PREFIX_BYTES = 5;

/** The largest message that a gRPC client or server takes by default, kubelet too. */
export const MAX_MESSAGE_BYTES: number = 4 * 1024 * 1024;

/** The frame types that matter here (RFC 9113, section 6). */
export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;

/** The flags that matter here; a bit means something only on the frame types that define it. */
export const FrameFlag = {
  END_STREAM: 0x1,
  ACK: 0x1,
  END_HEADERS: 0x4,
  PADDED: 0x8,
  PRIORITY: 0x20,
} as const;

/** What stands before each frame's payload (RFC 9113, section 4.1), which has `length` bytes. */
export interface FrameHeader {
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly bytes: Buffer;
}

/** Reads the next frame's header; refuses a payload of more than `maxLength` bytes. */
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
  .split(/\s+/);

/** Gives up on a peer that broke a protocol's rules or one of our bounds; `reason` goes to the log as it is. */
export function refuseFrame(reason: string): never {
  throw new RegistrarError("PROTOCOL", reason);
}
