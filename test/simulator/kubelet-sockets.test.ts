import { once } from "node:events";
import { createServer as createHttp2Server } from "node:http2";
import { eachTest } from "../support/each-test";
import { createTestNode } from "../support/registrar-node";
import { eventsOf } from "./events-of";

const node = eachTest(createTestNode);

const quick = { backoffInitialMs: 20 };

test("a socket replaced by rename is deregistered at one tick and registered at a later one", async () => {
  const { kubelet } = await node.all();
  await kubelet.registered("x.csi");
  const next = kubelet.events.when("registered", { from: "now" });
  await node.plugin();
  await expect(kubelet.events.when("deregistered")).resolves.toMatchObject({ because: "socket-replaced" });
  await next;
  expect(eventsOf(kubelet, "socket-seen").map(({ replaced }) => replaced)).toEqual([false, true]);
});

test("a socket that nobody listens on is dialled until the deadline, then backed off by its path", async () => {
  const dead = await node.plugin();
  await dead.crash();
  const kubelet = await node.kubelet({ timings: { ...quick, dialMs: 100 } });
  await expect(kubelet.events.when("failed")).resolves.toMatchObject({
    error: `RegisterPlugin error -- dial failed at socket ${node.socketPath()}, err: failed to dial socket ${node.socketPath()}, err: context deadline exceeded`,
    backoffMs: 20,
  });
  await node.driver();
  await node.plugin();
  await kubelet.registered("x.csi");
});

test("a server that comes while kubelet dials the dead socket is found by the same dial", async () => {
  const dead = await node.plugin();
  await dead.crash();
  const kubelet = await node.kubelet();
  await kubelet.events.when("calling");
  await node.driver();
  const registrar = await node.plugin();
  await registrar.events.when("notified", { where: ({ registered }) => registered });
  expect(eventsOf(kubelet, "called").filter(({ call }) => call === "dial")[0]).toMatchObject({
    result: { kind: "ok" },
  });
});

test("GetInfo has its second, no more", async () => {
  const kubelet = await node.kubelet({ timings: { ...quick, getInfoMs: 50 } });
  await node.driver();
  let calls = 0;
  await node.plugin({
    before: (method) => (method === "GetInfo" && calls++ === 0 ? new Promise(() => {}) : undefined),
  });
  await expect(kubelet.events.when("failed")).resolves.toMatchObject({
    error: expect.stringMatching(/failed to get plugin info using RPC GetInfo .* code = DeadlineExceeded/),
    retries: true,
  });
  await kubelet.registered("x.csi");
});

test("Node's own HTTP/2 server resets the raw authority of an old kubelet, not the encoded one", async () => {
  const server = createHttp2Server((_request, response) => void response.end()).listen(node.socketPath());
  await once(server, "listening");
  try {
    const errors = await Promise.all(
      (["1.28", "1.36"] as const).map(async (version) => {
        const kubelet = await node.kubelet({ version });
        return (await kubelet.events.when("failed")).error;
      }),
    );
    expect(errors[0]).toContain("stream terminated by RST_STREAM with error code: PROTOCOL_ERROR");
    expect(errors[1]).not.toContain("RST_STREAM");
  } finally {
    server.close();
  }
});

test("a socket that goes while its driver is asked is unregistered once the answer is there", async () => {
  const { kubelet, registrar } = await node.all({
    driver: { faults: [{ kind: "slow", method: "NodeGetInfo", delayMs: 100 }] },
  });
  await kubelet.events.when("calling", { where: ({ call }) => call === "NodeGetInfo" });
  await registrar.close();
  await kubelet.events.when("csi-node-changed", {
    where: ({ csiNode }) => csiNode.spec.drivers.length === 1,
  });
  await kubelet.events.when("csi-node-changed", { from: "now" });
  expect(kubelet.csiNode().spec.drivers).toEqual([]);
});

describe("when the registrar cannot be told of its success", () => {
  const failingOnce = () => {
    let notices = 0;
    return (method: string) => {
      if (method === "NotifyRegistrationStatus" && notices++ === 0) throw new Error("no thanks");
    };
  };

  test("kubelet 1.36 takes the driver off the node and tries again", async () => {
    const { kubelet } = await node.all({ kubelet: { timings: quick }, plugin: { before: failingOnce() } });
    await kubelet.registered("x.csi");
    const again = kubelet.events.when("registered", { from: "now" });
    await kubelet.deregistered("x.csi");
    expect(kubelet.csiNode().spec.drivers).toEqual([]);
    await again;
    expect(kubelet.csiNode().spec.drivers).toHaveLength(1);
    expect(eventsOf(kubelet, "deregistered")).toMatchObject([{ because: "notice-failed" }]);
    expect(eventsOf(kubelet, "failed")).toMatchObject([{ retries: true }]);
  });

  test("kubelet 1.35 uses the driver and leaves it at that", async () => {
    const { kubelet } = await node.all({
      kubelet: { version: "1.35", timings: quick },
      plugin: { before: failingOnce() },
    });
    await expect(kubelet.events.when("failed")).resolves.toMatchObject({
      error: expect.stringMatching(/failed to send registration status .* code = Internal desc = no thanks$/),
      retries: false,
    });
    expect(eventsOf(kubelet, "registered")).toHaveLength(1);
    expect(kubelet.csiNode().spec.drivers).toHaveLength(1);
  });

  test("a registrar that exits in the middle of the notice is seen as a connection that broke", async () => {
    const kubelet = await node.kubelet();
    await node.driver();
    await node.plugin({
      before: (method, cut) => {
        if (method !== "NotifyRegistrationStatus") return;
        cut();
        return new Promise(() => {});
      },
    });
    await expect(kubelet.events.when("failed")).resolves.toMatchObject({
      error: expect.stringContaining("rpc error: code = Unavailable desc = error reading from server: EOF"),
    });
  });
});
