import {
  createTimeline,
  kubeletGot,
  kubeletTells,
  registrarMoves,
} from "../../../../src/cli/commands/demo/happenings";
import { called, moved } from "./happenings";

const LOST = { to: "publishing", reason: "socket-gone" } as const;
const never = new AbortController().signal;

test("finds the first that fits, behind a place", () => {
  const timeline = createTimeline();
  timeline.add(moved(1, LOST));
  const place = timeline.now();
  expect(timeline.find(registrarMoves(LOST), 0)).toMatchObject({ atMs: 1 });
  expect(timeline.find(registrarMoves(LOST), place)).toBeUndefined();
  timeline.add(moved(2, LOST));
  timeline.add(moved(3, LOST));
  expect(timeline.find(registrarMoves(LOST), place)).toMatchObject({ atMs: 2 });
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
  [registrarMoves({}), true],
  [registrarMoves({ to: "standby" }), true],
  [registrarMoves({ to: "standby", reason: "socket-gone" }), false],
  [registrarMoves({ role: "second registrar" }), false],
])("a look at a change of state goes by its role and fields (%#)", (look, fits) => {
  expect(look(moved(1, { to: "standby", reason: "socket-taken" })) !== undefined).toBe(fits);
});
