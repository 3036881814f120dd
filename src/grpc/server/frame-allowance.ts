import { refuse } from "../http2/protocol-violation";

/** More than clients need for the calls that they make at a time; kubelet sends 5 of these frames with each call. */
const FRAMES = 200;
/** So a client may for ever begin 4 calls, wait a second in vain, and give them up. */
const EARNED_PER_SECOND = 8;

/**
 * How many frames a client may send that lead to no answered call, such as SETTINGS, PING and calls that it gives up: HTTP/2
 * has no rule against floods of them (CVE-2019-9512, 9515, 2023-44487). `now` is in milliseconds.
 */
export function createFrameAllowance(now: () => number = () => performance.now()) {
  let left = FRAMES;
  let earnedAt = now();
  return {
    /** Refuses the frame that is one too many; an expensive frame counts as several. */
    spend(frames = 1): void {
      const time = now();
      left = Math.min(FRAMES, left + ((time - earnedAt) / 1_000) * EARNED_PER_SECOND);
      earnedAt = time;
      if (left < frames) refuse(`${FRAMES} frames that lead to no call`);
      left -= frames;
    },
    /** Called after an answer: all may be spent again. */
    renew(): void {
      left = FRAMES;
    },
  };
}
