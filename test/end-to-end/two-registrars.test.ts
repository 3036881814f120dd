import { onNode, registered } from "./support/node";

const PUBLISHED = "Registration Server started";

test.each(["SIGTERM", "SIGKILL"] as const)(
  "%s of a newer registrar: the older one, which stood by, takes over",
  onNode(async (node, signal) => {
    await node.driver();
    const kubelet = await node.kubelet();
    const old = node.registrar();
    await registered(kubelet);
    const young = node.registrar();
    await old.reached("standby");
    await registered(kubelet, { nth: 2 });
    await young.reached("registered");
    expect([old, young].map((one) => one.lines(PUBLISHED).length)).toEqual([1, 1]);

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
