import { createClientCalls } from "../../../src/grpc/guard/client-calls";
import { FrameFlag, FrameType } from "../../../src/grpc/guard/frames";

const TOO_MANY = "200 frames that lead to no call";
const { DATA, HEADERS, PING, RST_STREAM, WINDOW_UPDATE } = FrameType;
const { END_STREAM } = FrameFlag;

function callsAt(
  clock = { ms: 0 },
  bounds = { maxFrames: 200, maxUnfinishedBytes: 100_000, unfinishedBytes: 0 },
) {
  const calls = createClientCalls(bounds, () => clock.ms);
  const of = (type: number, streamId = 0, flags = 0, length = 0) => {
    return { type, flags, streamId, length, bytes: Buffer.alloc(0) };
  };
  const client = (...frame: Parameters<typeof of>) => calls.received(of(...frame));
  const server = (...frame: Parameters<typeof of>) => calls.sent(of(...frame));
  const ping = (count = 1) => {
    for (let sent = 0; sent < count; sent++) client(PING);
  };
  /** A whole request. */
  const request = (streamId: number) => {
    client(HEADERS, streamId);
    client(DATA, streamId, END_STREAM, 5);
  };
  return { calls, client, server, ping, request, clock, bounds };
}

test("200 frames are taken, and not one more", () => {
  const { ping } = callsAt();
  ping(200);
  expect(ping).toThrow(TOO_MANY);
});

test.each<[string, (played: ReturnType<typeof callsAt>) => void]>([
  ["its trailers", ({ server }) => server(HEADERS, 1, END_STREAM)],
  ["a part of an answer", ({ server }) => server(DATA, 1, 0, 10)],
])("an answer gives all of them back, and no more: %s", (_what, answer) => {
  const played = callsAt();
  played.request(1);
  played.ping(150);
  answer(played);
  played.ping(200);
  expect(played.ping).toThrow(TOO_MANY);
});

test("a second gives 8 back, also in parts; a long time no more than 200", () => {
  const { ping, clock } = callsAt();
  ping(200);
  clock.ms = 124;
  expect(ping).toThrow(TOO_MANY);
  clock.ms = 125;
  ping();
  expect(ping).toThrow(TOO_MANY);
  clock.ms = 1_125;
  ping(8);
  expect(ping).toThrow(TOO_MANY);
  clock.ms = 1e9;
  ping(200);
  expect(ping).toThrow(TOO_MANY);
});

test("a busy client is not cut off: 1000 calls that run cost nothing", () => {
  const { calls, client, request } = callsAt();
  for (let call = 0; call < 1_000; call++) request(2 * call + 1);
  client(HEADERS, 9_001);
  for (let part = 0; part < 300; part++) client(DATA, 9_001, 0, 1);
  expect(calls.running()).toBe(1_001);
});

test.each<[string, number, (played: ReturnType<typeof callsAt>, streamId: number) => void]>([
  [
    "given up by the client",
    66,
    ({ client, request }, streamId) => {
      request(streamId);
      client(RST_STREAM, streamId);
    },
  ],
  [
    "refused",
    200,
    ({ server, request }, streamId) => {
      request(streamId);
      server(RST_STREAM, streamId);
    },
  ],
  ["given more room", 200, ({ client }) => client(WINDOW_UPDATE, 1)],
  ["sent DATA of nothing", 199, ({ client }) => client(DATA, 1)],
  ["sent DATA after its end", 199, ({ client }) => client(DATA, 1, END_STREAM, 5)],
])("calls that are %s cost it", (_what, most, play) => {
  const played = callsAt();
  played.request(1);
  for (let call = 1; call <= most; call++) play(played, 2 * call + 1);
  expect(() => {
    for (let call = most + 1; call <= most + 2; call++) play(played, 2 * call + 1);
  }).toThrow(TOO_MANY);
});

test("unfinished requests are counted over all connections that share the bound, and end with theirs", () => {
  const bounds = { maxFrames: 200, maxUnfinishedBytes: 100_000, unfinishedBytes: 0 };
  const [first, second] = [callsAt({ ms: 0 }, bounds), callsAt({ ms: 0 }, bounds)];
  const begin = ({ client }: typeof first, streamId: number, length: number) => {
    client(HEADERS, streamId);
    client(DATA, streamId, 0, length);
  };
  begin(first, 1, 65_000);
  begin(second, 1, 65_000);
  expect(() => begin(second, 3, 1_000)).toThrow("too many bytes of unfinished requests");
  second.calls.end();
  expect(bounds.unfinishedBytes).toBe(65_000);
  first.client(DATA, 1, END_STREAM, 1);
  expect(bounds.unfinishedBytes).toBe(0);
  expect([first.calls.everCalled(), second.calls.everCalled()]).toEqual([true, false]);
});

test("the smallest DATA counts 256 bytes", () => {
  const { client, bounds } = callsAt();
  client(HEADERS, 1);
  client(DATA, 1, 0, 1);
  expect(bounds.unfinishedBytes).toBe(256);
});
