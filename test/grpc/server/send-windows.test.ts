import { createSendWindows } from "../../../src/grpc/server/send-windows";

/** Windows whose frames are told of as `stream: text`. */
function opened(...streams: readonly number[]) {
  const sent: string[] = [];
  const windows = createSendWindows((frame) =>
    sent.push(`${frame.readUInt32BE(5)}: ${frame.subarray(9).toString("latin1")}`),
  );
  for (const streamId of streams) windows.open(streamId);
  const send = (streamId: number, text: string) =>
    windows.send(streamId, Buffer.from(text), () => sent.push(`${streamId} done`));
  return { ...windows, send, sent };
}

test("what fits goes at once, in frames of at most 16384 bytes", () => {
  const { send, sent } = opened(1);
  send(1, "x".repeat(40_000));
  expect(sent.map((text) => text.length)).toEqual([16_387, 16_387, 7_235, "1 done".length]);
});

test("a message of nothing but its prefix is sent as any other", () => {
  const { send, sent } = opened(1);
  send(1, "\0\0\0\0\0");
  expect(sent).toEqual(["1: \0\0\0\0\0", "1 done"]);
});

test("what does not fit in a stream's window waits for it to grow", () => {
  const { resize, send, sent, grow } = opened(1);
  resize(3);
  send(1, "abcdef");
  expect(sent.splice(0)).toEqual(["1: abc"]);
  grow(1, 2);
  expect(sent.splice(0)).toEqual(["1: de"]);
  resize(4); // One more for the stream that is open.
  expect(sent).toEqual(["1: f", "1 done"]);
});

test("a window may fall below 0, and has to be filled again", () => {
  const { resize, send, sent, grow } = opened(1);
  resize(2);
  send(1, "abcd");
  resize(0);
  grow(1, 2);
  expect(sent).toEqual(["1: ab"]);
  grow(1, 1);
  expect(sent).toEqual(["1: ab", "1: c"]);
});

test("all streams share the connection's window, and the first that waits goes first", () => {
  const { send, sent, grow } = opened(1, 3);
  send(1, "x".repeat(65_534));
  sent.splice(0);
  send(3, "abc");
  expect(sent.splice(0)).toEqual(["3: a"]);
  grow(0, 2);
  expect(sent).toEqual(["3: bc", "3 done"]);
});

test("what waits on a stream that is closed is dropped", () => {
  const { resize, send, sent, grow, close } = opened(1);
  resize(0);
  send(1, "abc");
  close(1);
  grow(1, 100);
  resize(100);
  send(1, "abc");
  expect(sent).toEqual([]);
});

test.each<[string, (windows: ReturnType<typeof opened>) => void]>([
  ["a connection's window that grows too wide", ({ grow }) => grow(0, 2 ** 31 - 1)],
  ["a stream's window that grows too wide", ({ grow }) => grow(1, 2 ** 31 - 1)],
  [
    "an open stream's window that settings make too wide",
    ({ grow, resize }) => {
      grow(1, 2 ** 31 - 1 - 65_535);
      resize(65_536);
    },
  ],
])("%s is refused", (_name, act) => {
  expect(() => act(opened(1))).toThrow("a window of more than 2147483647 bytes");
});

test("a window may be as wide as HTTP/2 has it", () => {
  const { grow } = opened(1);
  for (const streamId of [0, 1]) expect(() => grow(streamId, 2 ** 31 - 1 - 65_535)).not.toThrow();
});

test("a window that grows by nothing is refused", () => {
  expect(() => opened(1).grow(1, 0)).toThrow("a window that grows by 0");
});
