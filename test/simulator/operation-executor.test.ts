import { setImmediate as turn } from "node:timers/promises";
import { createOperationExecutor, type OperationOutcome } from "../../src/simulator/operation-executor";

const done = async (): Promise<OperationOutcome> => ({ kind: "done" });
const failed = async (): Promise<OperationOutcome> => ({ kind: "failed", error: "no" });

function makeExecutor(initialMs = 60_000) {
  const failures: string[] = [];
  const executor = createOperationExecutor({ initialMs, maxMs: 90_000 }, (path, error, { waitMs }) =>
    failures.push(`${path} ${error} ${waitMs}`),
  );
  return { executor, failures };
}

test("runs one operation per path, paths beside each other", async () => {
  const { executor } = makeExecutor();
  let finish = () => {};
  const slow = new Promise<OperationOutcome>((resolve) => {
    finish = () => resolve({ kind: "done" });
  });
  expect(executor.start("/a", () => slow).kind).toBe("started");
  expect(executor.start("/a", done).kind).toBe("busy");
  expect(executor.start("/b", done).kind).toBe("started");
  finish();
  await executor.idle();
  expect(executor.start("/a", done).kind).toBe("started");
});

test("a failed path waits, and keeps its one wait", async () => {
  const { executor, failures } = makeExecutor();
  executor.start("/a", failed);
  await executor.idle();
  expect(failures).toEqual(["/a no 60000"]);
  const first = executor.start("/a", done);
  const second = executor.start("/a", done);
  if (first.kind !== "backing-off" || second.kind !== "backing-off") throw new Error("it did not wait");
  expect(first.remainingMs).toBeGreaterThan(0);
  expect(second.backoff).toBe(first.backoff);
  expect(executor.start("/b", done).kind).toBe("started");
});

test("a success forgets the wait", async () => {
  const { executor, failures } = makeExecutor(1);
  for (const run of [failed, failed, done, failed]) {
    while (executor.start("/a", run).kind !== "started") await turn();
    await executor.idle();
  }
  expect(failures).toEqual(["/a no 1", "/a no 2", "/a no 1"]);
});
