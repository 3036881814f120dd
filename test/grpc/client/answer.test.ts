import { callFailureText, firstFields } from "../../../src/grpc/client/answer";

const LAST = "14 UNAVAILABLE: No connection established. Last error:";
const NOTE = ". Resolution note: ";
const AFTER = "4 DEADLINE_EXCEEDED: Deadline exceeded after";
const STUCK = "no HTTP/2 connection by then: the server is slow, hangs, or does not speak HTTP/2";

test.each([
  [`${LAST} Protocol error (2026-11-21T18:36:38.993Z)${NOTE}`, `${LAST} Protocol error`],
  [`${LAST} Error: connect ENOENT /csi.sock${NOTE}`, `${LAST} connect ENOENT /csi.sock`],
  [`${AFTER} 1.003s,name resolution: 0.001s,LB pick: 0.003s,remote_addr=/csi.sock`, `${AFTER} 1s`],
  [`${AFTER} 1.001s,Waiting for LB pick`, `${AFTER} 1s; ${STUCK}`],
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
const ALL = Number.POSITIVE_INFINITY;
const VARINT = Buffer.from("08ac02", "hex");
const FIXED = Buffer.from(`09${"00".repeat(8)}0d00000000`, "hex");
const MIXED = Buffer.concat([TEXT, VARINT, FIXED, ENTRY]);

test.each<[string, Buffer, number]>([
  ["nothing", Buffer.alloc(0), ALL],
  ["a field of each kind", MIXED, ALL],
  ["a thousand fields", times(ENTRY, 1_000), ALL],
  ["a text of 4 MB", Buffer.concat([Buffer.from("0a80a4f401", "hex"), Buffer.alloc(4_002_304)]), ALL],
  ["a text that is cut off", Buffer.from([0x0a, 200, 1]), ALL],
  ["empty entries", times(ENTRY, 250_000), 2_000],
  ["texts", times(TEXT, 1_001), 4_000],
  ["numbers of two bytes", times(VARINT, 5_000), 3_000],
  ["all after an empty group", Buffer.concat([Buffer.from("7b7c", "hex"), times(ENTRY, 300_000)]), 1_998],
  ["fields of each kind", times(MIXED, 400), 200 * MIXED.length],
])("%s: the first thousand", (_what, message, length) => {
  const first = firstFields(message);
  expect(first).toHaveLength(Math.min(length, message.length));
  expect(message.subarray(0, length).equals(first)).toBe(true); // Of 4 MB Jest takes seconds to compare each byte.
  if (length === ALL) expect(first).toBe(message);
});
