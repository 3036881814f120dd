import { kubeletGot, kubeletTells, registrarLogs } from "../../../../src/cli/commands/demo/happenings";
import { createTimeline } from "../../../../src/cli/commands/demo/timeline";
import { called, logged } from "./happenings";

const never = new AbortController().signal;

test("finds the first that fits, behind a place", () => {
  const timeline = createTimeline();
  timeline.add(logged(1, "Lost connection"));
  const place = timeline.now();
  expect(timeline.find(registrarLogs("Lost connection"), 0)).toMatchObject({ atMs: 1 });
  expect(timeline.find(registrarLogs("Lost connection"), place)).toBeUndefined();
  timeline.add(logged(2, "Lost connection"));
  timeline.add(logged(3, "Lost connection"));
  expect(timeline.find(registrarLogs("Lost connection"), place)).toMatchObject({ atMs: 2 });
});

test("waits for what is still to come, and takes what came already", async () => {
  const timeline = createTimeline();
  const waiting = timeline.when(kubeletGot("GetInfo"), 0, never);
  timeline.add(called(1, "dial"));
  timeline.add(called(2, "GetInfo", "too busy"));
  timeline.add(called(3, "GetInfo"));
  await expect(waiting).resolves.toMatchObject({ atMs: 3 });
  await expect(timeline.when(kubeletGot("GetInfo"), 0, never)).resolves.toMatchObject({ atMs: 3 });
});

test("gives up with the signal's reason, at once where it was aborted before", async () => {
  const timeline = createTimeline();
  const giveUp = new AbortController();
  const waiting = timeline.when(kubeletTells("registered"), 0, giveUp.signal);
  giveUp.abort(new Error("late"));
  await expect(waiting).rejects.toThrow("late");
  await expect(timeline.when(kubeletTells("registered"), 0, giveUp.signal)).rejects.toThrow("late");
});

test.each([
  [registrarLogs("Registration state changed"), true],
  [registrarLogs("Registration state changed", { to: "standby" }), true],
  [registrarLogs("Registration state changed", { to: "standby", reason: "socket-gone" }), false],
  [registrarLogs("Registration state changed", { role: "second registrar" }), false],
  [registrarLogs("Registration"), false],
])("a look at a log line goes by its message, its role and fields (%#)", (look, fits) => {
  const line = logged(1, "Registration state changed", { to: "standby", reason: "socket-taken" });
  expect(look(line) !== undefined).toBe(fits);
});
