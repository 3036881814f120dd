import { FrameFlag, type FrameHeader, FrameType } from "./http2/frames";
import { createUnaryRequest, type UnaryRequest } from "./unary-request";

/**
 * Knows by the frames that go by whether a connection was ever used for a call, and how many are running on it. It
 * throws `PROTOCOL` for a request that is no unary one.
 */
export interface CallLedger {
  readonly everCalled: boolean;
  readonly running: number;
  fromClient(frame: FrameHeader): void;
  /** Told of what a DATA frame holds, in pieces, after the frame itself. */
  contentFromClient(streamId: number, piece: Buffer): void;
  fromServer(frame: FrameHeader): void;
}

/** A call begins with the client's HEADERS; it ends when the server ends its stream, or when either side resets it. */
export function createCallLedger(): CallLedger {
  const running = new Map<number, UnaryRequest>();
  let newestStream = 0;
  return {
    get everCalled() {
      return newestStream > 0;
    },
    get running() {
      return running.size;
    },
    fromClient({ type, streamId }) {
      if (type === FrameType.RST_STREAM) running.delete(streamId);
      if (type === FrameType.DATA) running.get(streamId)?.frame();
      // Stream ids only grow, so HEADERS on a known id are a call's trailers, perhaps after its end.
      if (type === FrameType.HEADERS && streamId > newestStream) {
        newestStream = streamId;
        running.set(streamId, createUnaryRequest());
      }
    },
    contentFromClient(streamId, piece) {
      running.get(streamId)?.content(piece);
    },
    fromServer({ type, flags, streamId }) {
      const carriesEnd = type === FrameType.HEADERS || type === FrameType.DATA;
      const ended = carriesEnd && (flags & FrameFlag.END_STREAM) !== 0;
      if (ended || type === FrameType.RST_STREAM) running.delete(streamId);
    },
  };
}
