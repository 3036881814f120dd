import { once } from "node:events";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { CLIENT_PREFACE, FrameFlag, FrameType } from "../../../src/grpc/guard/frames";
import { guardFromClient, guardFromServer } from "../../../src/grpc/guard/guards";
import { eventually } from "../../support/eventually";
import { listenInPlace } from "../../support/foreign-socket";
import { createTempFolder } from "../../support/temp-folder";
import { frame, headerBlock, SETTINGS } from "../wire";

const bounds = () => ({ maxFrames: 200, maxUnfinishedBytes: 0, unfinishedBytes: 0 });

/** What HTTP/2 receives of what a peer sends, until the connection ends. */
async function seenOf(peer: "client" | "server", ...sent: readonly Buffer[]): Promise<Buffer> {
  await using folder = await createTempFolder();
  const path = folder.at("x.sock");
  await using _peer = await listenInPlace(path, (socket) => socket.end(Buffer.concat(sent)));
  const seen: Buffer[] = [];
  const read = (stream: Duplex) =>
    stream.on("data", (bytes: Buffer) => seen.push(bytes)).on("end", () => stream.destroy());
  const socket = connect({ path });
  if (peer === "server") read(guardFromServer(socket));
  else guardFromClient(socket, bounds(), read);
  await once(socket, "close");
  return Buffer.concat(seen);
}

const hello = frame(SETTINGS, 0, 0);
const block = headerBlock([":status", "200"], ["x", "y".repeat(1_000)]);
const whole = frame(FrameType.HEADERS, FrameFlag.END_HEADERS, 1, block);
const headersOf = (streamId: number, flags = 0) =>
  frame(FrameType.HEADERS, FrameFlag.END_HEADERS | flags, streamId, block);
const pieces = (count: number, flags: number) => [
  frame(FrameType.HEADERS, 0, 1, block.subarray(0, 10)),
  ...Array.from({ length: count - 1 }, () => frame(FrameType.CONTINUATION, 0, 1)),
  frame(FrameType.CONTINUATION, flags, 1, block.subarray(10)),
];

test.each<[string, readonly Buffer[]]>([
  ["frames of every kind", [hello, whole, frame(FrameType.DATA, 1, 1, Buffer.alloc(9_000)), frame(77, 0, 0)]],
  ["a header block in 8 more frames", [hello, ...pieces(8, FrameFlag.END_HEADERS), hello]],
  [
    "answers with 1xx before them",
    [
      hello,
      ...[1, 3, 5].flatMap((id) => [...Array(63).fill(headersOf(id)), headersOf(id, FrameFlag.END_STREAM)]),
    ],
  ],
  ["what is no HTTP/2", [Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")]],
])("passes on %s as they are", async (_what, sent) => {
  expect(await seenOf("server", ...sent)).toEqual(Buffer.concat(sent));
});

test.each<[string, readonly Buffer[]]>([
  ["that does not end", pieces(2, 0)],
  ["with something in between", [...pieces(1, 0), hello]],
])("passes on nothing of a header block %s", async (_what, sent) => {
  expect(await seenOf("server", hello, ...sent)).toEqual(hello);
  const greeting = Buffer.concat([CLIENT_PREFACE, hello]);
  expect(await seenOf("client", greeting, ...sent)).toEqual(greeting);
});

test("the guard disconnects a server that answers one call with endless header blocks", async () => {
  const half = Array(32).fill(headersOf(1));
  const acknowledged = frame(SETTINGS, 1, 0); // Its flag is not the end of an answer.
  const passed = [...half, acknowledged, ...half];
  expect(await seenOf("server", ...passed, headersOf(1))).toEqual(Buffer.concat(passed));
});

test("an answer ends its call after both sides sent GOAWAY", async () => {
  await using folder = await createTempFolder();
  const goodbye = frame(FrameType.GOAWAY, 0, 0, Buffer.alloc(8));
  const request = Buffer.concat([CLIENT_PREFACE, hello, headersOf(1, FrameFlag.END_STREAM), goodbye]);
  await using _peer = await listenInPlace(folder.at("x.sock"), (socket) => socket.write(request));
  let served: Duplex | undefined;
  const { calls } = guardFromClient(connect(folder.at("x.sock")), bounds(), (stream) => (served = stream));
  await eventually(() => expect(calls.running()).toBe(1));
  served?.write(Buffer.concat([goodbye, headersOf(1, FrameFlag.END_STREAM)]));
  expect(calls.running()).toBe(0);
});
