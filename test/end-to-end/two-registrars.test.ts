import { lstatSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { nodeTest, onNode, registered, type TestNode } from "./support/node";

const PUBLISHED = "Registration Server started";

/** An old registrar that stands by for a young one, which holds the registration. */
async function startTwo(node: TestNode) {
  await node.driver();
  const kubelet = await node.kubelet();
  const old = node.registrar();
  await registered(kubelet);
  const young = node.registrar();
  await old.reached("standby");
  await registered(kubelet, { nth: 2 });
  await young.reached("registered");

  const { ino } = lstatSync(node.socketPath);
  const events = kubelet.events.history().length;
  /** Looks for a while: no event is to happen, so there is none to wait for. */
  const expectNoChange = async (durationMs: number) => {
    await delay(durationMs);
    expect(lstatSync(node.socketPath).ino).toBe(ino);
    expect(kubelet.events.history()).toHaveLength(events);
    expect([old, young].map((one) => one.lines(PUBLISHED).length)).toEqual([1, 1]);
  };
  return { kubelet, old, young, expectNoChange };
}

test.each(["SIGTERM", "SIGKILL"] as const)(
  "%s of the new one: the old one takes over",
  onNode(async (node, signal) => {
    const { kubelet, old, young } = await startTwo(node);
    young.kill(signal);
    const killedMs = Date.now();
    const { timeMs } = await old.reached("publishing", 2);
    // It saw the end itself: its look without cause would have come about 5 s later.
    expect(timeMs - killedMs).toBeLessThan(3_000);
    await registered(kubelet, { nth: 3 });
    await old.reached("registered", 2);
    expect(old.lines(PUBLISHED)).toHaveLength(2);
  }),
);

nodeTest("the older registrar stands by in silence, and robs one that hangs of nothing", async (node) => {
  const { old, young, expectNoChange } = await startTwo(node);
  young.kill("SIGSTOP");
  await expectNoChange(500);
  young.kill("SIGCONT");
  for (const one of [old, young]) expect(one.lines().filter(({ severity }) => severity !== "I")).toEqual([]);
});
