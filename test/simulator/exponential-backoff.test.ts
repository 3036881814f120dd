import {
  backoffAfterFailure,
  KUBELET_BACKOFF,
  type PathBackoff,
  remainingMs,
} from "../../src/simulator/exponential-backoff";

test("doubles from 500 ms to 2 min 2 s, as kubelet's", () => {
  const waits: number[] = [];
  let backoff: PathBackoff | undefined;
  for (let failure = 0; failure < 11; failure++) {
    backoff = backoffAfterFailure(backoff, 0);
    waits.push(backoff.waitMs);
  }
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 122_000, 122_000, 122_000]);
});

test("counts from the last failure", () => {
  const backoff = backoffAfterFailure(undefined, 1000, KUBELET_BACKOFF);
  expect([1000, 1200, 1500, 9000].map((now) => remainingMs(backoff, now))).toEqual([500, 300, 0, 0]);
  expect(remainingMs(undefined, 1000)).toBe(0);
});
