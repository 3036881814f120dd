import { encodeFrame, FrameType, MAX_FRAME_BYTES } from "../http2/frames";
import { refuse } from "../http2/protocol-violation";
import { MAX_WINDOW } from "../http2/settings";

/** The initial size of both windows (RFC 9113, section 6.9.2). */
const FIRST_WINDOW = 65_535;

/** Flow control (RFC 9113, section 6.9): DATA waits here until the client has room for it. */
export function createSendWindows(write: (frame: Buffer) => void) {
  const streams = new Map<number, { window: number; unsent: Buffer; sent: () => void }>();
  let initial = FIRST_WINDOW;
  let ofConnection = FIRST_WINDOW;

  function flush(streamId: number): void {
    const stream = streams.get(streamId);
    while (stream && stream.unsent.length > 0) {
      const room = Math.min(stream.window, ofConnection, MAX_FRAME_BYTES);
      if (room <= 0) return;
      const piece = stream.unsent.subarray(0, room);
      write(encodeFrame(FrameType.DATA, 0, streamId, piece));
      stream.unsent = stream.unsent.subarray(piece.length);
      stream.window -= piece.length;
      ofConnection -= piece.length;
      if (stream.unsent.length === 0) stream.sent();
    }
  }
  const flushAll = () => {
    for (const streamId of [...streams.keys()]) flush(streamId);
  };
  const grown = (window: number, by: number) => {
    if (window + by > MAX_WINDOW) refuse("a window of more than 2147483647 bytes");
    return window + by;
  };

  return {
    open(streamId: number): void {
      streams.set(streamId, { window: initial, unsent: Buffer.alloc(0), sent: () => {} });
    },
    close(streamId: number): void {
      streams.delete(streamId);
    },
    /** Sends DATA as far as there is room, the rest later; then calls `sent`. */
    send(streamId: number, bytes: Buffer, sent: () => void): void {
      const stream = streams.get(streamId);
      if (stream === undefined) return;
      Object.assign(stream, { unsent: bytes, sent });
      flush(streamId);
    },
    /** The client's WINDOW_UPDATE, of a stream or, for 0, of the connection. */
    grow(streamId: number, increment: number): void {
      if (increment === 0) refuse("a window that grows by 0");
      if (streamId === 0) {
        ofConnection = grown(ofConnection, increment);
        flushAll();
        return;
      }
      const stream = streams.get(streamId);
      if (stream === undefined) return;
      stream.window = grown(stream.window, increment);
      flush(streamId);
    },
    /** The client's SETTINGS_INITIAL_WINDOW_SIZE, which changes the open streams' windows too. */
    resize(initialWindow: number): void {
      for (const stream of streams.values()) stream.window = grown(stream.window, initialWindow - initial);
      initial = initialWindow;
      flushAll();
    },
  };
}
