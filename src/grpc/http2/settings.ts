import { encodeFrame, FrameType, MAX_FRAME_BYTES } from "./frames";
import { refuse } from "./protocol-violation";

/** RFC 9113, section 6.5.2. */
export const Setting = {
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const;

/** The largest window, and the largest frame (RFC 9113, sections 6.9.1 and 4.2). */
export const MAX_WINDOW: number = 2 ** 31 - 1;
const HIGHEST_MAX_FRAME_BYTES = 2 ** 24 - 1;

const BYTES_OF_ONE = 6;

export function encodeSettings(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(settings.length * BYTES_OF_ONE);
  for (const [index, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, index * BYTES_OF_ONE);
    payload.writeUInt32BE(value, index * BYTES_OF_ONE + 2);
  }
  return encodeFrame(FrameType.SETTINGS, 0, 0, payload);
}

/**
 * The initial windows that a client's SETTINGS frame sets, in order; the rest does not matter to a server that sends small
 * frames and uses no table. Refuses values that HTTP/2 forbids.
 */
export function parseInitialWindows(payload: Buffer): readonly number[] {
  if (payload.length % BYTES_OF_ONE !== 0) refuse(`SETTINGS of ${payload.length} bytes`);
  const windows: number[] = [];
  for (let at = 0; at < payload.length; at += BYTES_OF_ONE) {
    const id = payload.readUInt16BE(at);
    const value = payload.readUInt32BE(at + 2);
    if (id === Setting.ENABLE_PUSH && value > 1) refuse(`SETTINGS_ENABLE_PUSH ${value}`);
    if (id === Setting.MAX_FRAME_SIZE && (value < MAX_FRAME_BYTES || value > HIGHEST_MAX_FRAME_BYTES))
      refuse(`SETTINGS_MAX_FRAME_SIZE ${value}`);
    if (id === Setting.INITIAL_WINDOW_SIZE) {
      if (value > MAX_WINDOW) refuse(`SETTINGS_INITIAL_WINDOW_SIZE ${value}`);
      windows.push(value);
    }
  }
  return windows;
}
