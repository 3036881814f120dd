import { createCallAllowance } from "../../../src/grpc/guard/call-allowance";
import { DATA, END_STREAM, HEADERS, PING, RST_STREAM, WINDOW_UPDATE } from "../wire";

const TOO_MANY = "200 frames that lead to no call";
type Played = ReturnType<typeof play>;

function play(bounds = { maxFrames: 200, maxUnfinishedBytes: 100_000, unfinishedBytes: 0 }) {
  const clock = { ms: 0 };
  const calls = createCallAllowance(bounds, () => clock.ms);
  const frame = (type: number, streamId = 0, flags = 0, length = 0) => {
    return { type, flags, streamId, length, bytes: Buffer.alloc(0) };
  };
  const client = (...of: Parameters<typeof frame>) => calls.received(frame(...of));
  const server = (...of: Parameters<typeof frame>) => calls.sent(frame(...of));
  const begin = (streamId: number, length: number, flags = 0) => {
    client(HEADERS, streamId);
    client(DATA, streamId, flags, length);
  };
  const request = (streamId: number) => begin(streamId, 5, END_STREAM);
  return {
    ...{ calls, client, server, clock, bounds, begin, request },
    ping: (count = 1) => {
      for (let sent = 0; sent < count; sent++) client(PING);
    },
    requestAndReset: (by: typeof client, streamId: number) => {
      request(streamId);
      by(RST_STREAM, streamId);
    },
  };
}

test.each<[string, number, (played: Played) => void]>([
  ["its trailers", 0, ({ server }) => server(HEADERS, 1, END_STREAM)],
  ["a part of an answer", 1, ({ server }) => server(DATA, 1, 0, 10)],
])("200 frames are accepted, no more, and an answer returns them: %s", (_what, left, answer) => {
  const played = play();
  played.request(1);
  played.ping(150);
  answer(played);
  expect(played.calls.running()).toBe(left);
  played.ping(200);
  played.server(PING, 0, END_STREAM); // Its ACK is the same bit.
  expect(played.ping).toThrow(TOO_MANY);
});

test("each second returns 8 frames, also in parts, up to 200", () => {
  const { ping, clock } = play();
  ping(200);
  for (const [ms, earned] of [
    [124, 0],
    [125, 1],
    [1_125, 8],
    [1e9, 200],
  ] as const) {
    clock.ms = ms;
    ping(earned);
    expect(ping).toThrow(TOO_MANY);
  }
});

test("1000 running calls cost nothing of the allowance", () => {
  const { calls, client, request } = play();
  for (let call = 0; call < 1_000; call++) request(2 * call + 1);
  client(HEADERS, 9_001);
  for (let part = 0; part < 300; part++) client(DATA, 9_001, 0, 1);
  expect(calls.running()).toBe(1_001);
});

test.each<[string, number, (played: Played, streamId: number) => void]>([
  ["given up by the client", 66, ({ requestAndReset, client }, id) => requestAndReset(client, id)],
  ["refused", 200, ({ requestAndReset, server }, id) => requestAndReset(server, id)],
  ["given more room", 200, ({ client }) => [client(HEADERS, 3), client(WINDOW_UPDATE, 3)]],
  ["given more room before they begin", 200, ({ client }, id) => client(WINDOW_UPDATE, id)],
  ["sent DATA of nothing", 200, ({ begin }) => begin(3, 0)],
  ["begun again", 200, ({ client }) => client(HEADERS, 1)],
  ["answered by nothing yet", 200, ({ ping, server }) => [ping(), server(HEADERS, 1, 0, 9), server(DATA, 1)]],
  ["sent DATA after its end", 199, ({ client }) => client(DATA, 1, END_STREAM, 5)],
])("calls that are %s use up the allowance", (_what, most, act) => {
  const played = play();
  played.request(1);
  for (let call = 1; call <= most; call++) act(played, 2 * call + 1);
  expect(() => {
    for (let call = most + 1; call <= most + 2; call++) act(played, 2 * call + 1);
  }).toThrow(TOO_MANY);
  expect(played.calls.running()).toBeLessThan(5);
  expect(played.bounds.unfinishedBytes).toBe(0);
});

test("unfinished requests are counted over all connections that share the bound, and end with theirs", () => {
  const first = play();
  const { bounds } = first;
  const second = play(bounds);
  first.begin(1, 65_000);
  second.begin(1, 65_536); // This much each may have.
  expect(() => second.begin(3, 1_000)).toThrow("too many bytes of unfinished requests");
  second.calls.end();
  expect(bounds.unfinishedBytes).toBe(65_000);
  first.client(DATA, 1, END_STREAM, 1);
  expect(bounds.unfinishedBytes).toBe(0);
  expect([first.calls.everCalled(), second.calls.everCalled()]).toEqual([true, false]);
  first.begin(3, 1); // The smallest DATA counts 256 bytes.
  expect(bounds.unfinishedBytes).toBe(256);
  first.client(RST_STREAM, 3);
  expect(bounds.unfinishedBytes).toBe(0);
  first.begin(5, bounds.maxUnfinishedBytes);
});

test("the allowance also refills by the process' clock", () => {
  const calls = createCallAllowance({ maxFrames: 0, maxUnfinishedBytes: 0, unfinishedBytes: 0 });
  const ping = { type: PING, flags: 0, streamId: 0, length: 0, bytes: Buffer.alloc(0) };
  expect(() => calls.received(ping)).toThrow("0 frames that lead to no call");
});
