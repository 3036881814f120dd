import { once } from "node:events";
import { connect, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { callUnary, createUnixClient } from "../../../src/grpc/client/unary";
import { CLIENT_PREFACE } from "../../../src/grpc/guard/frames";
import { protos } from "../../../src/grpc/protos";
import { statusCodeOf } from "../../../src/grpc/status";
import { expectNothingLeft } from "../../support/resources";
import { connectRaw, gate, LONG_MS, serveGrpc } from "../served-grpc";
import { GOAWAY, getInfoCall, HELLO, ONE_CALL } from "../wire";

test("close() ends idle connections at once, also of clients that never hang up", () =>
  expectNothingLeft(async () => {
    await using served = await serveGrpc();
    const stubborn = connect({ path: served.path, allowHalfOpen: true });
    const [[socket]] = await Promise.all([once(served.listener, "connection"), once(stubborn, "connect")]);
    using silent = connectRaw(served.path);
    using hesitant = served.connect(CLIENT_PREFACE.subarray(0, 10));
    using greeted = served.connect(HELLO);
    using used = served.connect(ONE_CALL);
    expect(await used.statusOf(1)).toBe("0");
    expect(served.server.connections.open).toBe(5);

    await served.server.close({ graceMs: LONG_MS });
    expect(socket.destroyed).toBe(true);
    stubborn.destroy();
    await Promise.all([silent.closed, hesitant.closed, greeted.closed, used.closed]);
    expect(served.server.connections).toMatchObject({ accepted: 5, open: 0, rejected: 0 });
  }));

test("a connection that was gone when it was accepted counts for nothing, and close() does not wait for it", async () => {
  await using served = await serveGrpc();
  const gone = new Socket().destroy();
  await once(gone, "close");
  served.server.accept(gone);
  expect(served.server.connections).toMatchObject({ accepted: 0, open: 0 });
});

test("close() lets a running call finish, and accepts none after its GOAWAY", async () => {
  const { getInfo, entered, open } = gate();
  let calls = 0;
  await using served = await serveGrpc({
    getInfo: (context) => {
      calls += 1;
      return getInfo(context);
    },
  });
  using client = served.connect(ONE_CALL);
  const { signal } = await entered;
  const closed = served.server.close({ graceMs: LONG_MS });
  client.socket.write(getInfoCall(3, "/raw"));
  const goodbye = () => client.frames.find(({ type }) => type === GOAWAY)?.payload;
  await client.until(() => goodbye() !== undefined);
  expect([goodbye()?.readUInt32BE(0), goodbye()?.readUInt32BE(4)]).toEqual([1, 0]);
  open();
  expect(await client.statusOf(1)).toBe("0");
  await closed;
  expect([calls, signal.aborted]).toEqual([1, false]);
});

test("close() cuts a call after the grace: its handler's signal aborts, its client gets an error", async () => {
  const { getInfo, entered } = gate();
  await using served = await serveGrpc({ getInfo });
  const client = createUnixClient(served.path);
  const call = callUnary(client, protos.registration.GetInfo, {}, { timeoutMs: LONG_MS });
  const failure = call.catch(statusCodeOf);
  const { signal } = await entered;
  await served.server.close({ graceMs: 1 });
  expect(served.server.connections.open).toBe(0);
  expect(await failure).toEqual(expect.any(Number));
  if (!signal.aborted) await once(signal, "abort");
  client.close();
});

test("close() works once, and the server accepts no connection afterwards", async () => {
  await using served = await serveGrpc();
  const GRACE_MS = 20;
  const closed = served.server.close({ graceMs: GRACE_MS });
  expect(served.server.close()).toBe(closed);
  expect(served.server[Symbol.asyncDispose]()).toBe(closed);
  await closed;
  await delay(3 * GRACE_MS); // Nothing is cut later.
  expect(served.server.isCut).toBe(false);
  using late = connectRaw(served.path);
  await late.closed;
  expect(served.server.connections).toEqual({ accepted: 0, open: 0, cutBeforeCall: 0, rejected: 0 });
});
