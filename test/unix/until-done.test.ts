import { BACKOFF, backoffMs } from "../../src/base/backoff";
import { silentLogger } from "../../src/logging/logger";
import { controlWaits } from "../support/controlled-waits";

const waits = controlWaits({ fromMs: 1 });

test("the waits between attempts follow the backoff of publishing", async () => {
  const { untilDone } = await import("../../src/unix/until-done");
  jest.spyOn(Math, "random").mockReturnValue(0);
  const failures = [1, 2, 3].map((at) => new Error(`${at}`));
  const left = [...failures];
  const failed: unknown[] = [];
  const done = untilDone(async () => left.length === 0 || Promise.reject(left.shift()), {
    log: silentLogger,
    signal: new AbortController().signal,
    onFailure: (error) => failed.push(error),
  });
  for (const attempt of failures.keys()) await waits.end(backoffMs(BACKOFF.publish, attempt));
  expect(await done).toBe(true);
  expect(failed).toEqual(failures);
});

test("what fails because it is no longer wanted is no failure", async () => {
  const { untilDone } = await import("../../src/unix/until-done");
  const stop = new AbortController();
  const onFailure = jest.fn();
  const deed = async () => {
    stop.abort();
    throw new Error("aborted");
  };
  expect(await untilDone(deed, { log: silentLogger, signal: stop.signal, onFailure })).toBeUndefined();
  expect(onFailure).not.toHaveBeenCalled();
});
