import { waitFor } from "../../../../src/tools/doctor/cluster/read/patience";
import { expectNothingLeft } from "../../../support/resources";

const PATIENCE = { noticeMs: 10, silentMs: 20, longestMs: 30 };
const NEVER = new Promise<never>(() => {});

test.each([
  ["silent", false, 0.02],
  ["that may wait for its user", true, 0.03],
])("a wait that is %s is reported, then ended", async (_what, isPatient, seconds) => {
  const told = jest.spyOn(process.stderr, "write").mockReturnValue(true);
  let running: AbortSignal | undefined;
  const act = (signal: AbortSignal) => {
    running = signal;
    return NEVER;
  };
  const waited = await waitFor("kubectl", act, () => isPatient, PATIENCE);
  expect(waited).toEqual({ silence: `no answer within ${seconds} s: kubectl` });
  expect(told.mock.calls).toEqual([["registrar doctor: waiting for kubectl\n"]]);
  expect(running?.aborted).toBe(true);
});

test("an answer, and a failure, are passed on at once, and leave no timer", () =>
  expectNothingLeft(async () => {
    const long = { noticeMs: 1e9, silentMs: 1e9, longestMs: 1e9 };
    const wait = (act: () => Promise<number>) => waitFor("x", act, () => false, long);
    expect(await wait(async () => 1)).toEqual({ value: 1 });
    await expect(wait(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  }));
