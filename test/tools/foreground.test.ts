jest.mock("../../src/runtime/signals", () => ({ abortOnSignals: () => new AbortController().signal }));

import { untilStopped } from "../../src/tools/foreground";

test("a command in the foreground ends when nobody reads its output", () => {
  const on = jest.spyOn(process.stdout, "on");
  const signal = untilStopped();
  process.stdout.emit("error", new Error("EPIPE"));
  expect(signal.aborted).toBe(true);
  for (const [name, listener] of on.mock.calls) process.stdout.off(name, listener);
});
