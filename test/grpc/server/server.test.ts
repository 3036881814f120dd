import { bareCall } from "../../../src/grpc/client/bare-call";
import { callUnary, createUnixClient } from "../../../src/grpc/client/unary";
import { CLIENT_PREFACE } from "../../../src/grpc/guard/frames";
import { protos } from "../../../src/grpc/protos";
import { timeoutMsOf } from "../../../src/grpc/server";
import { eventually } from "../../support/eventually";
import { INFO, serveGrpc } from "../served-grpc";
import { chunksOf, fixture, GOAWAY, HELLO, ONE_CALL } from "../wire";

test("serves a grpc-js client", async () => {
  await using served = await serveGrpc();
  const client = createUnixClient(served.path);
  const options = { timeoutMs: 10_000 };
  expect(await callUnary(client, protos.registration.GetInfo, {}, options)).toEqual(INFO);
  const status = { pluginRegistered: false, error: "no" };
  expect(await callUnary(client, protos.registration.NotifyRegistrationStatus, status, options)).toEqual({});
  expect(served.notices).toEqual([status]);
  expect(served.server.connections).toEqual({ accepted: 1, open: 1, cutBeforeCall: 0, rejected: 0 });
  client.close();
  await eventually(() => expect(served.server.connections.open).toBe(0));
  expect(served.server.connections).toEqual({ accepted: 1, open: 0, cutBeforeCall: 0, rejected: 0 });
});

test("a call whose timeout exceeds a timer's maximum does not expire at once", async () => {
  await using served = await serveGrpc({
    getInfo: async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return INFO;
    },
  });
  const fields = { "grpc-timeout": "2147484S" }; // As 32 bits, which grpc-js makes of it, it is negative.
  const { path } = protos.registration.GetInfo;
  expect((await bareCall(served.path, path, { timeoutMs: 10_000, fields })).grpcStatus).toBe("0");
});

test.each(["kubelet-1.24.hex", "kubelet-1.28.hex", "kubelet-1.36.hex"])(
  "serves %s, cut into pieces of 7 bytes",
  async (name) => {
    const sent = fixture(name);
    const goodbye = sent.lastIndexOf(Buffer.from([GOAWAY, 0, 0, 0, 0, 0])) - 3;
    const calls = goodbye < 0 ? sent : sent.subarray(0, goodbye);
    await using served = await serveGrpc();
    using kubelet = await served.connectNext();
    // As if the kernel had cut it so.
    for (const chunk of chunksOf(Buffer.concat([HELLO, calls.subarray(CLIENT_PREFACE.length)]), 7))
      kubelet.accepted.emit("data", chunk);
    for (const streamId of [1, 3, 5]) expect(await kubelet.statusOf(streamId)).toBe("0");
    expect(served.notices).toEqual([{ pluginRegistered: true, error: "" }]);

    kubelet.socket.end(sent.subarray(calls.length));
    await kubelet.closed;
    await eventually(() => expect(served.server.connections.open).toBe(0));
    expect(served.server.connections).toEqual({ accepted: 1, open: 0, cutBeforeCall: 0, rejected: 0 });
    expect(served.records).toEqual([]);
  },
);

test("the server answers a client that sends byte by byte, and others meanwhile", async () => {
  await using served = await serveGrpc();
  using slow = await served.connectNext();
  for (const byte of ONE_CALL) {
    slow.socket.write(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
    if (byte === 0xff || byte === 0x2f) {
      using quick = served.connect(ONE_CALL);
      expect(await quick.statusOf(1)).toBe("0");
    }
  }
  expect(await slow.statusOf(1)).toBe("0");
});

test("what each unit of grpc-timeout is in milliseconds", () => {
  const texts = ["1H", "2M", "3S", "4m", "5000u", "6000000n", "7x"];
  expect(texts.map(timeoutMsOf)).toEqual([3_600_000, 120_000, 3_000, 4, 5, 6, 0]);
});
