import { refuse } from "../http2/protocol-violation";

/** More than clients need for the calls that they make at a time; kubelet sends five of these frames with each call. */
const FRAMES = 200;
/** So a client may begin calls that nobody answers and give them up after a second, all 4 of them and as long as it likes. */
const EARNED_PER_SECOND = 8;

/**
 * How many frames a client may send that lead to no answered call: SETTINGS, PING, calls that it gives up, and all else
 * that costs work and is soon forgotten. HTTP/2 has no rule of its own against floods of them (CVE-2019-9512, 9515,
 * 2023-44487). `now` is in milliseconds.
 */
export function createFrameAllowance(now: () => number = () => performance.now()) {
  let left = FRAMES;
  let earnedAt = now();
  return {
    /** Refuses the frame that is one too many; one that takes as much time as several counts as so many. */
    spend(frames = 1): void {
      const time = now();
      left = Math.min(FRAMES, left + ((time - earnedAt) / 1_000) * EARNED_PER_SECOND);
      earnedAt = time;
      if (left < frames) refuse(`${FRAMES} frames that lead to no call`);
      left -= frames;
    },
    /** A call was answered: all may be spent again. */
    renew(): void {
      left = FRAMES;
    },
  };
}
