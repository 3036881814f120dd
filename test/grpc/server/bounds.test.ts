import { setImmediate as nextTurn } from "node:timers/promises";
import { CLIENT_PREFACE } from "../../../src/grpc/guard/frames";
import { eventually } from "../../support/eventually";
import { openCall } from "../attacks";
import { connectRaw, gate, INFO, openDescriptors, serveGrpc } from "../served-grpc";
import { CONTINUATION, DATA, frame, getInfoCall, HELLO, ONE_CALL, PING, RAW_PATH } from "../wire";

const TOO_MUCH = "Too many connections, closed one";
const BROKEN = "Closed a connection that broke HTTP/2 or a limit";

test("clients that break the rules leave no descriptor and no flood of warnings", async () => {
  await using served = await serveGrpc();
  const before = openDescriptors();
  const kinds = [Buffer.from("GET / HTTP/1.1\r\n\r\n"), Buffer.concat([HELLO, frame(CONTINUATION, 0, 1)])];
  for (let count = 0; count < 200; count++) {
    const client = connectRaw(served.path);
    client.socket.write(kinds[count % kinds.length] ?? HELLO);
    await client.closed;
  }
  await eventually(() => expect(served.server.connections.open).toBe(0));
  await eventually(() => expect(openDescriptors()).toBeLessThanOrEqual(before));
  expect(served.server.connections).toEqual({
    accepted: 200,
    open: 0,
    cutBeforeCall: 0,
    rejected: 200,
    lastRejection: "HTTP/2 error PROTOCOL_ERROR: CONTINUATION: unexpected",
  });
  const ofSeverity = (wanted: string) => served.records.filter(({ severity }) => severity === wanted);
  expect(ofSeverity("warning")).toMatchObject([{ message: BROKEN }]);
  expect(ofSeverity("info").filter(({ verbosity }) => verbosity === 2)).toHaveLength(200);
});

test("the server counts connections that it cut before any call, without silent ones", async () => {
  const [timer, cleared] = [jest.spyOn(globalThis, "setTimeout"), jest.spyOn(globalThis, "clearTimeout")];
  await using served = await serveGrpc();
  for (const bytes of ["", CLIENT_PREFACE.subarray(0, 5), HELLO]) {
    const client = await served.connectNext();
    client.socket.end(bytes);
    await client.closed;
  }
  await eventually(() => expect(served.server.connections.open).toBe(0));
  expect(served.server.connections).toEqual({ accepted: 3, open: 0, cutBeforeCall: 2, rejected: 0 });
  // When a client that has hung up is cut off, unless it is gone before.
  const cut = timer.mock.calls.findIndex(([, ms]) => ms === 2_000);
  expect(cleared.mock.calls.flat()).toContain(timer.mock.results[cut]?.value);
});

test("the unfinished requests of a client that leaves count no longer", async () => {
  await using served = await serveGrpc({ limits: { maxUnfinishedBytes: 100_000 } });
  const begun = Buffer.concat([openCall(1), frame(DATA, 0, 1, Buffer.from([0, 0, 0, 255, 255]))]);
  const more = Buffer.concat(Array.from({ length: 300 }, () => frame(DATA, 0, 1, Buffer.alloc(1))));
  for (const _turn of [1, 2, 3]) {
    const client = served.connect(HELLO, begun, more, frame(PING, 0, 0, Buffer.alloc(8)));
    await client.until(() => client.frames.some(({ type }) => type === PING));
    client.socket.destroy();
    await eventually(() => expect(served.server.connections.open).toBe(0));
  }
  expect(served.server.connections).toMatchObject({ accepted: 3, rejected: 0 });
});

test("kubelet is answered beside 500 idle connections", async () => {
  await using served = await serveGrpc();
  const idle = Array.from({ length: 500 }, () => connectRaw(served.path));
  await eventually(() => expect(served.server.connections.accepted).toBe(500));
  expect(served.server.connections.open).toBeLessThanOrEqual(2 * 64 + 1);
  await eventually(() => expect(served.server.connections.open).toBe(64));
  using kubelet = served.connect(ONE_CALL);
  expect(await kubelet.statusOf(1)).toBe("0");
  await Promise.all(idle.slice(0, 437).map(({ closed }) => closed));
  expect(idle.slice(437).filter(({ socket }) => socket.destroyed)).toEqual([]);
  expect(served.records).toMatchObject([
    { severity: "warning", message: TOO_MUCH, fields: { limit: 64, closed: "oldest silent" } },
  ]);
  for (const { socket } of idle) socket.destroy();
});

test("a client that waits for our settings before it calls is not closed for the next one that comes", async () => {
  await using served = await serveGrpc({ limits: { maxConnections: 1 } });
  const clock = jest.spyOn(performance, "now").mockReturnValue(performance.now());
  using kubelet = served.connect(HELLO);
  await kubelet.until(() => kubelet.frames.length > 0);
  const timer = jest.spyOn(globalThis, "setTimeout");
  using stranger = served.connect(HELLO);
  await stranger.until(() => stranger.frames.length > 0);
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect(timer.mock.calls.map(([, ms]) => ms)).toContain(250);
  kubelet.socket.write(getInfoCall(1, RAW_PATH));
  expect(await kubelet.statusOf(1)).toBe("0");
  clock.mockRestore();
});

test("silent connections are closed before idle ones, idle ones before busy ones, the oldest first", async () => {
  const { getInfo, open } = gate();
  let calls = 0;
  await using served = await serveGrpc({
    limits: { maxConnections: 3 },
    getInfo: (context) => {
      calls += 1;
      return calls === 2 ? INFO : getInfo(context);
    },
  });
  const connectBusy = async () => {
    const client = await served.connectNext();
    const running = calls + 1;
    client.socket.write(ONE_CALL);
    await eventually(() => expect(calls).toBe(running));
    return client;
  };

  const busy = [await connectBusy()];
  const idle = await connectBusy();
  expect(await idle.statusOf(1)).toBe("0");
  const silent = await served.connectNext();
  busy.push(await connectBusy());
  await silent.closed;
  expect(idle.socket.destroyed).toBe(false);
  busy.push(await connectBusy());
  await idle.closed;
  busy.push(await connectBusy());
  await busy[0]?.closed;
  open();
  expect(await Promise.all(busy.map((client) => client.statusOf(1)))).toEqual([undefined, "0", "0", "0"]);
  expect(served.server.connections).toEqual({ accepted: 6, open: 3, cutBeforeCall: 0, rejected: 0 });
  for (const { socket } of busy) socket.destroy();
});

test("a client that has called is not closed for strangers, whatever calls they begin", async () => {
  await using served = await serveGrpc({ limits: { maxConnections: 3 } });
  using kubelet = served.connect(ONE_CALL);
  expect(await kubelet.statusOf(1)).toBe("0");
  const half = getInfoCall(1, RAW_PATH).subarray(0, -6); // Without the end of the DATA frame's header.
  const ping = frame(PING, 0, 0, Buffer.alloc(8));
  const strangers = [];
  for (let count = 0; count < 10; count++) {
    const stranger = served.connect(HELLO, ping, half.subarray(0, count % 2 ? half.length : -8));
    await stranger.until(() => stranger.frames.length > 0);
    strangers.push(stranger);
  }
  await Promise.all(strangers.slice(0, 8).map(({ closed }) => closed));
  kubelet.socket.write(getInfoCall(3, RAW_PATH));
  expect(await kubelet.statusOf(3)).toBe("0");
  for (const { socket } of strangers) socket.destroy();
});
