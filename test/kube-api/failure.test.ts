import { type ApiFailure, retryMs } from "../../src/kube-api/failure";

test.each<[ApiFailure["kind"], longestMs: number]>([
  ["unavailable", 30_000],
  ["unreachable", 30_000],
  ["conflict", 30_000],
  ["forbidden", 300_000],
  ["unauthorized", 300_000],
])("after %s requests come soon at first, and in the end every %s ms", (kind, longestMs) => {
  const waitMs = (attempt: number) => retryMs({ kind, message: "" }, attempt, undefined, () => 0);
  expect([0, 1, 2, 50].map(waitMs)).toEqual([500, 1_000, 2_000, longestMs]);
});
