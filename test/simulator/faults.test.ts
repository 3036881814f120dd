import type { KubeletFault } from "../../src/simulator/kubelet/options";
import { createFaultScript } from "../../src/simulator/simulator-options";

const refuse = (reason: string, more: { times?: number; driverName?: string } = {}): KubeletFault => ({
  kind: "refuse",
  reason,
  ...more,
});

test("a fault is used up as often as it says, then the next has its turn", () => {
  const faults = createFaultScript([refuse("once", { times: 1 }), refuse("always")]);
  const reasons = [1, 2, 3].map(() => faults.take("refuse")?.reason);
  expect(reasons).toEqual(["once", "always", "always"]);
});

test("a fault that does not fit is not spent", () => {
  const faults = createFaultScript<KubeletFault>([refuse("a only", { times: 1, driverName: "a" })]);
  expect(faults.take("refuse", ({ driverName }) => driverName === "b")).toBeUndefined();
  expect(faults.take("refuse", ({ driverName }) => driverName === "a")?.reason).toBe("a only");
});

test("zero times is never, and setting replaces everything", () => {
  const faults = createFaultScript<KubeletFault>([refuse("never", { times: 0 }), { kind: "never-call" }]);
  expect(faults.take("refuse")).toBeUndefined();
  expect(faults.take("never-call")).toEqual({ kind: "never-call" });
  faults.set([]);
  expect(faults.take("never-call")).toBeUndefined();
});
