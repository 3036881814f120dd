import { setImmediate as turn } from "node:timers/promises";
import { createOperationExecutor } from "../../src/simulator/kubelet/plugin-manager";

function makeExecutor(backoffInitialMs = 60_000, backoffMaxMs = 90_000) {
  const told: string[] = [];
  const executor = createOperationExecutor({ backoffInitialMs, backoffMaxMs }, (path, error, waitMs) =>
    told.push(`${path} ${error} ${waitMs}`),
  );
  const start = (path: string, error?: string) =>
    executor.start(path, performance.now(), async () => {
      told.push(`${path} runs`);
      return error;
    });
  return { executor, start, told };
}

test("runs one operation per path, paths beside each other", async () => {
  const { executor, start, told } = makeExecutor();
  let finish = () => {};
  executor.start(
    "/a",
    performance.now(),
    () =>
      new Promise((resolve) => {
        finish = () => resolve(undefined);
      }),
  );
  start("/a");
  start("/b");
  expect(told).toEqual(["/b runs"]);
  finish();
  await executor.idle();
  start("/a");
  expect(told).toEqual(["/b runs", "/a runs"]);
});

test("a failed path waits, and keeps its one wait", async () => {
  const { executor, start, told } = makeExecutor();
  const failedAfter = performance.now();
  start("/a", "no");
  await executor.idle();
  const wait = start("/a");
  expect(wait?.untilMs).toBeGreaterThanOrEqual(failedAfter + 60_000);
  expect(start("/a")).toBe(wait);
  expect(start("/b")).toBeUndefined();
  expect(told).toEqual(["/a runs", "/a no 60000", "/b runs"]);
});

test("each failure doubles the wait up to the longest, a success forgets it", async () => {
  const { executor, start, told } = makeExecutor(1, 3);
  for (const error of ["no", "no", "no", undefined, "no"]) {
    while (start("/a", error)) await turn();
    await executor.idle();
  }
  expect(told.filter((line) => !line.endsWith("runs"))).toEqual(["/a no 1", "/a no 2", "/a no 3", "/a no 1"]);
});
