import { kubeletStep } from "./step";
import { storyOf } from "./story";

const { sees, misses, starts, fails } = kubeletStep;

test.each([
  ["waited long enough", 10_000, 11_000, "starts to register"],
  ["did not", 10_000, 10_600, "starts to register, too early"],
  ["waited over midnight", 24 * 60 * 60 * 1000 - 300, 700, "starts to register"],
])("tells of a kubelet that %s", (_case, failedAtMs, startedAtMs, what) => {
  const steps = [fails("a", "no", 1000, failedAtMs), sees("a"), starts("a", "register", startedAtMs)];
  expect(storyOf(steps)).toEqual({
    "kubelet, a": ["fails, then waits 1000 ms: no", "sees the socket", what],
  });
});

test("ends with a failure, whether kubelet's next try began before the play ended or not", () => {
  const failing = [sees("a"), starts("a", "register", 1), fails("a", "no", 500, 10_000)];
  const told = ["sees the socket", "starts to register", "fails, then waits 500 ms: no"];
  expect(storyOf(failing)).toEqual({ "kubelet, a": told });
  expect(storyOf([...failing, starts("a", "register", 11_000)])).toEqual({ "kubelet, a": told });
  const early = storyOf([...failing, starts("a", "register", 10_100)]);
  expect(early).toEqual({ "kubelet, a": [...told, "starts to register, too early"] });
});

test("keeps the steps about each path apart, and passes over files that were never sockets", () => {
  const steps = [misses(".b"), sees("b"), sees("a"), misses("b"), misses("a"), sees("a")];
  expect(storyOf(steps)).toEqual({
    "kubelet, a": ["sees the socket", "sees the socket"],
    "kubelet, b": ["sees the socket", "misses the socket"],
  });
});
