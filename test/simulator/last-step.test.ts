import { eachTest } from "../support/each-test";
import { createTestNode } from "../support/registrar-node";
import { told } from "../support/told";

const node = eachTest(createTestNode);

type Kubelet = Awaited<ReturnType<typeof node.kubelet>>;

/** What somebody is told who waited for the driver's registration until the kubelet was where the test wants it. */
async function giveUpWhen(kubelet: Kubelet, reached: Promise<unknown>): Promise<string> {
  const giveUp = new AbortController();
  const waiting = kubelet.registered("x.csi", { signal: giveUp.signal }).catch(({ message }) => message);
  await reached;
  giveUp.abort();
  return waiting;
}

test("says that there was no socket", async () => {
  const kubelet = await node.kubelet();
  expect(await giveUpWhen(kubelet, Promise.resolve())).toBe(
    `"registered" of the simulated kubelet did not happen: the caller gave up; it has seen no socket in ${node.pluginDir}`,
  );
});

test("says that kubelet has not called", async () => {
  const kubelet = await node.kubelet({ faults: [{ kind: "never-call" }] });
  await node.plugin();
  expect(await giveUpWhen(kubelet, kubelet.events.when("socket-seen"))).toContain(
    `; it has seen ${node.socketPath()} and not called yet`,
  );
});

test("says which call hangs", async () => {
  const { kubelet } = await node.all({ driver: { faults: [{ kind: "hang", method: "NodeGetInfo" }] } });
  const asking = kubelet.events.when("calling", { where: ({ call }) => call === "NodeGetInfo" });
  expect(await giveUpWhen(kubelet, asking)).toContain(
    `; NodeGetInfo on ${node.csiAddress} has not ended yet`,
  );
});

test("says why kubelet refused", async () => {
  const { kubelet } = await node.all({
    kubelet: { faults: [{ kind: "refuse", reason: "no such node", times: 1 }] },
  });
  expect(await giveUpWhen(kubelet, kubelet.events.when("failed"))).toContain("no such node");
});

test("says which driver was registered, not that its registrar was told", async () => {
  const { kubelet } = await node.all({ driver: { name: "y.csi" }, plugin: { info: { name: "y.csi" } } });
  await told(kubelet, await kubelet.registered("y.csi"));
  expect(await giveUpWhen(kubelet, Promise.resolve())).toContain("; it has registered y.csi");
});

test("says that the driver was registered, and is no more", async () => {
  const { kubelet, registrar } = await node.all();
  await told(kubelet, await kubelet.registered("x.csi"));
  await registrar.close();
  await kubelet.deregistered("x.csi");
  expect(await giveUpWhen(kubelet, Promise.resolve())).toContain("; it has deregistered x.csi: socket-gone");
});
