import { FrameFlag, type FrameHeader, FrameType } from "./http2-frames";

/** Knows by the frames that go by whether a connection was ever used for a call, and how many are running on it. */
export interface CallLedger {
  readonly everCalled: boolean;
  readonly running: number;
  fromClient(frame: FrameHeader): void;
  fromServer(frame: FrameHeader): void;
}

/** A call begins with the client's HEADERS; it ends when the server ends its stream, or when either side resets it. */
export function createCallLedger(): CallLedger {
  const running = new Set<number>();
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
      // Stream ids only grow, so HEADERS on a known id are a call's trailers, perhaps after its end.
      if (type === FrameType.HEADERS && streamId > newestStream) {
        newestStream = streamId;
        running.add(streamId);
      }
    },
    fromServer({ type, flags, streamId }) {
      const carriesEnd = type === FrameType.HEADERS || type === FrameType.DATA;
      const ended = carriesEnd && (flags & FrameFlag.END_STREAM) !== 0;
      if (ended || type === FrameType.RST_STREAM) running.delete(streamId);
    },
  };
}
