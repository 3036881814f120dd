import { BACKOFF, backoffMs, REMINDERS, reminderMs } from "../../src/base/backoff";

const seconds = { initialMs: 1_000, maxMs: 30_000 };

test("doubles from the first wait to the longest", () => {
  const waits = [0, 1, 2, 3, 4, 5, 6].map((attempt) => backoffMs(seconds, attempt));
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(backoffMs(seconds, 5_000)).toBe(30_000); // More attempts than a number can double.
});

test.each([
  [0, 1, 0.9, 2_000],
  [0.2, 1, 0, 2_000],
  [0.2, 1, 0.5, 1_800],
  [0.2, 1, 1, 1_600],
  [1, 9, 0, 30_000],
])("with a jitter of %d, attempt %i waits at chance %d for %d ms", (jitter, attempt, chance, expected) => {
  expect(backoffMs({ ...seconds, jitter }, attempt, () => chance)).toBe(expected);
});

test("each node's wait before a request to the API server has a random share", () => {
  const { apiServer, unlistedDriver, reregistration, taintFight, conditionFight } = BACKOFF;
  for (const own of [apiServer, unlistedDriver, reregistration, taintFight, conditionFight])
    expect(backoffMs(own, 0, () => 1)).toBe(own.initialMs / 2);
  // Kubelet asks it about each publication.
  for (const kubelets of [BACKOFF.refused, BACKOFF.refusedForLong, BACKOFF.lostStatus])
    expect(backoffMs(kubelets, 0, () => 1)).toBe(kubelets.initialMs * 0.8);
});

test("the reminders of a missing socket grow rarer: about 50 lines in a day", () => {
  const msBefore = (line: number) => reminderMs(REMINDERS.connect, line);
  let lines = 0;
  for (let waitedMs = msBefore(0); waitedMs < 24 * 3_600_000; waitedMs += msBefore(lines)) lines += 1;
  expect([0, 5, 6, 11, 12, 17, 18, 1_000].map(msBefore)).toEqual(
    [10, 10, 60, 60, 600, 600, 3_600, 3_600].map((seconds) => seconds * 1_000),
  );
  expect(lines).toBeLessThan(50);
});

test("kubelet's silence is logged after 30 s, 2 and 10 minutes, then once an hour", () => {
  const minutes = [0, 1, 2, 3, 4, 99].map((line) => reminderMs(REMINDERS.kubeletSilent, line) / 60_000);
  expect(minutes).toEqual([0.5, 2, 10, 60, 60, 60]);
});
