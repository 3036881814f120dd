import { callFailureText, firstFields } from "../../../src/grpc/client/answer";

test.each([
  [
    "14 UNAVAILABLE: No connection established. Last error: Protocol error (2026-11-21T18:36:38.993Z). Resolution note: ",
    "14 UNAVAILABLE: No connection established. Last error: Protocol error",
  ],
  [
    "14 UNAVAILABLE: No connection established. Last error: Error: connect ENOENT /csi.sock. Resolution note: ",
    "14 UNAVAILABLE: No connection established. Last error: connect ENOENT /csi.sock",
  ],
  [
    "4 DEADLINE_EXCEEDED: Deadline exceeded after 1.003s,name resolution: 0.001s,remote_addr=/csi.sock",
    "4 DEADLINE_EXCEEDED: Deadline exceeded after 1s",
  ],
  [
    "4 DEADLINE_EXCEEDED: Deadline exceeded after 1.002s,name resolution: 0.001s,metadata filters: 0.000s,time to current attempt start: 0.002s,LB pick: 0.003s,remote_addr=/csi.sock",
    "4 DEADLINE_EXCEEDED: Deadline exceeded after 1s",
  ],
  [
    "4 DEADLINE_EXCEEDED: Deadline exceeded after 1.001s,Waiting for LB pick",
    "4 DEADLINE_EXCEEDED: Deadline exceeded after 1s; no HTTP/2 connection by then: the server is slow, hangs, or does not speak HTTP/2",
  ],
  [
    "8 RESOURCE_EXHAUSTED: Received message larger than max (70000 vs 65536)",
    "8 RESOURCE_EXHAUSTED: the server misbehaves: its answer has 70000 bytes, 65536 is the most",
  ],
  ["5 NOT_FOUND: the driver's own. Resolution note: none", undefined],
  ["5 NOT_FOUND: as the server says (2026-11-21T18:36:38.993Z)", undefined],
])("%s", (text, clear) => {
  expect(callFailureText(text, 1_000)).toBe(clear ?? text);
});

const TEXT = Buffer.from([0x0a, 2, 97, 98]);
const ENTRY = Buffer.from([0x1a, 0]);
const times = (field: Buffer, count: number) => Buffer.concat(Array<Buffer>(count).fill(field));
const [VARINT, FIXED64, FIXED32] = ["08ac02", `09${"00".repeat(8)}`, "0d00000000"].map((hex) =>
  Buffer.from(hex, "hex"),
) as [Buffer, Buffer, Buffer];
const MIXED = Buffer.concat([TEXT, VARINT, FIXED64, FIXED32, ENTRY]);

test.each([
  ["nothing", Buffer.alloc(0)],
  ["a field of each kind", MIXED],
  ["a thousand fields", times(ENTRY, 1_000)],
  ["a text of 4 MB", Buffer.concat([Buffer.from("0a80a4f401", "hex"), Buffer.alloc(4_002_304)])],
  ["a text that is cut off", Buffer.from([0x0a, 200, 1])],
])("%s: all of it", (_what, message) => {
  expect(firstFields(message)).toBe(message);
});

test.each([
  ["empty entries", times(ENTRY, 250_000), 2_000],
  ["texts", times(TEXT, 1_001), 4_000],
  ["numbers of two bytes", times(VARINT, 5_000), 3_000],
  ["all after an empty group", Buffer.concat([Buffer.from("7b7c", "hex"), times(ENTRY, 300_000)]), 1_998],
  ["fields of each kind", times(MIXED, 400), 200 * MIXED.length],
])("%s: the first thousand", (_what, message, length) => {
  expect(firstFields(message)).toEqual(message.subarray(0, length));
});
