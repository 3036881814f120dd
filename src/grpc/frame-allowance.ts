import { refuse } from "./http2/protocol-violation";

/** More than clients need for the calls that they make at a time; kubelet sends five of these frames with each call. */
const FRAMES = 200;
/** Calls that wait for hours may all be given up in one moment. */
const FRAMES_OF_ONE_CALL = 16;
/**
 * For each call that may run at a time: so a client may begin calls and give them up after a second, all of them and as
 * long as it likes, where nobody answers. It may also ping once a second.
 */
const EARNED_PER_SECOND = 2;
/** Clients tell us that they have taken an answer: of 8 kB in one frame mostly, of less where their windows are small. */
const EARNED_PER_SENT_BYTE = 1 / 1_024;

/**
 * How many frames a client may send that lead to no answered call: SETTINGS, PING, calls that it gives up, and all else
 * that costs work and is soon forgotten. HTTP/2 has no rule of its own against floods of them (CVE-2019-9512, 9515,
 * 2023-44487). `now` is in milliseconds.
 */
export function createFrameAllowance(callsAtATime: number, now: () => number = () => performance.now()) {
  const all = Math.max(FRAMES, FRAMES_OF_ONE_CALL * callsAtATime);
  let left = all;
  let earnedAt = now();
  const earn = (frames: number) => {
    left = Math.min(all, left + frames);
  };
  return {
    /** Refuses the frame that is one too many. */
    spend(): void {
      const time = now();
      earn(((time - earnedAt) / 1_000) * EARNED_PER_SECOND * callsAtATime);
      earnedAt = time;
      if (left < 1) refuse(`${all} frames that lead to no call`);
      left -= 1;
    },
    /** So much of an answer was sent. */
    sent(bytes: number): void {
      earn(bytes * EARNED_PER_SENT_BYTE);
    },
    /** A call was answered: all may be spent again. */
    renew(): void {
      left = all;
    },
  };
}
