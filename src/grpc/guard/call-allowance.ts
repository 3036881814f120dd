import { FrameFlag, type FrameHeader, FrameType, refuseFrame } from "./frames";

/** So a client may for ever begin 4 calls, wait a second in vain, and give them up. */
const EARNED_PER_SECOND = 8;

/** A DATA frame takes as much memory, however small it is. */
const LEAST_BYTES_OF_DATA = 256;
/** Bytes of unfinished requests that each connection may always have: kubelet's have a few hundred. */
const SMALL_BYTES = 65_536;

export interface ClientBounds {
  readonly maxFrames: number;
  /** Bytes of unfinished requests, of all connections together. */
  readonly maxUnfinishedBytes: number;
  unfinishedBytes: number;
}

/**
 * Follows the calls of one client by the frames of both directions, and bounds what leads to no answered call: HTTP/2 has no
 * rule against floods of SETTINGS, PING or calls that are given up (CVE-2019-9512, 9515, 2023-44487). An answer renews the
 * allowance, and frames of a running call cost nothing, so a busy client is not cut off. `now` is in milliseconds.
 */
export function createCallAllowance(bounds: ClientBounds, now: () => number = () => performance.now()) {
  /** By stream: the bytes of a request that has not ended. */
  const running = new Map<number, number | "ended">();
  let newest = 0;
  let everCalled = false;
  let everAnswered = false;
  let unfinishedHere = 0;
  let left = bounds.maxFrames;
  let earnedAt = now();

  function spend(frames = 1): void {
    const time = now();
    left = Math.min(bounds.maxFrames, left + ((time - earnedAt) / 1_000) * EARNED_PER_SECOND);
    earnedAt = time;
    if (left < frames) refuseFrame(`${bounds.maxFrames} frames that lead to no call`);
    left -= frames;
  }
  function keep(bytes: number): void {
    unfinishedHere += bytes;
    bounds.unfinishedBytes += bytes;
  }
  function forget(streamId: number): boolean {
    const bytes = running.get(streamId);
    if (typeof bytes === "number") keep(-bytes);
    return running.delete(streamId);
  }

  function received({ type, flags, streamId, length }: FrameHeader): void {
    const isData = type === FrameType.DATA;
    const mayEnd = isData || type === FrameType.HEADERS;
    const endsRequest = mayEnd && (flags & FrameFlag.END_STREAM) !== 0;
    if (type === FrameType.HEADERS && streamId > newest) {
      newest = streamId;
      running.set(streamId, 0);
    } else if (type === FrameType.RST_STREAM) {
      spend(forget(streamId) ? 3 : 1); // With the HEADERS and DATA of the call that is given up.
      return;
    }
    const before = running.get(streamId);
    if (!mayEnd || typeof before !== "number" || (isData && length === 0 && !endsRequest)) {
      spend();
      return;
    }
    const added = isData ? Math.max(length, LEAST_BYTES_OF_DATA) : 0;
    keep(added);
    running.set(streamId, before + added);
    if (unfinishedHere > SMALL_BYTES && bounds.unfinishedBytes > bounds.maxUnfinishedBytes)
      refuseFrame("too many bytes of unfinished requests");
    if (!endsRequest) return;
    keep(-before - added);
    running.set(streamId, "ended");
    everCalled = true;
  }

  /** A frame that HTTP/2 answers. */
  function sent({ type, flags, streamId, length }: FrameHeader): void {
    if (type === FrameType.RST_STREAM && forget(streamId)) spend();
    if (type !== FrameType.DATA && type !== FrameType.HEADERS) return;
    const endsCall = (flags & FrameFlag.END_STREAM) !== 0;
    if (endsCall) {
      forget(streamId);
      everAnswered = true;
    }
    if (endsCall || (type === FrameType.DATA && length > 0)) left = bounds.maxFrames;
  }

  return {
    received,
    sent,
    end: (): void => {
      keep(-unfinishedHere);
      running.clear();
    },
    /** Whether a whole request ever arrived. */
    everCalled: () => everCalled,
    everAnswered: () => everAnswered,
    running: () => running.size,
  };
}
