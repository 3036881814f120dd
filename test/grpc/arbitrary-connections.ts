import * as fc from "fast-check";
import { CLIENT_PREFACE } from "../../src/grpc/http2/frames";
import { ATTACKS } from "./attacks";
import { bytesOf, frame, GOAWAY, getInfoCall, HELLO, PADDED, RAW_PATH, SETTINGS } from "./wire";

const WINDOW_UPDATE = 8;

const bytes = (constraints: fc.IntArrayConstraints) =>
  fc.uint8Array(constraints).map((one) => Buffer.from(one));

/** What attackers send, up to 20 kB of each. */
const hostile = Object.values(ATTACKS)
  .flat()
  .map((attack) => attack.bytes.subarray(HELLO.length, HELLO.length + 20_000));

const good = [
  ...[1, 3, 5, 7, 9, 11].map((streamId) => getInfoCall(streamId, RAW_PATH)),
  frame(SETTINGS, 0, 0, bytesOf("0004 0000ffff 0005 00004000")),
  frame(0, PADDED | 1, 1, bytesOf("02 00 00000000 ffff")),
  frame(WINDOW_UPDATE, 0, 1, bytesOf("0000ffff")),
  frame(GOAWAY, 0, 0, Buffer.alloc(8)),
];

const frames = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...good) },
  { weight: 2, arbitrary: fc.constantFrom(...hostile) },
  fc
    .tuple(fc.nat(11), fc.nat(255), fc.constantFrom(0, 1, 2, 3, 5, 0x7fff_ffff), bytes({ maxLength: 40 }))
    .map(([type, flags, streamId, payload]) => frame(type, flags, streamId, payload)),
);

const share = fc.noBias(fc.nat(9_999)).map((parts) => parts / 10_000);
const damages = fc.array(fc.record({ where: share, value: fc.nat(255) }), { maxLength: 4 });
const greetings = fc.oneof(
  { weight: 20, arbitrary: fc.constant(HELLO) },
  { weight: 1, arbitrary: fc.constant(CLIENT_PREFACE) },
  { weight: 1, arbitrary: bytes({ maxLength: 24 }) },
);
/** How much of it all is sent. */
const ends = fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, share);

/** What a client sends on one connection: often all valid, often damaged in some bytes, cut anywhere. */
export const connections: fc.Arbitrary<Buffer> = fc
  .tuple(
    greetings,
    fc.array(frames, { minLength: 1, maxLength: 16 }),
    fc.oneof(fc.constant([]), damages),
    ends,
  )
  .map(([greeting, parts, hits, end]) => {
    const rest = Buffer.concat(parts);
    for (const { where, value } of hits) rest[Math.floor(where * rest.length)] = value;
    const sent = Buffer.concat([greeting, rest]);
    return sent.subarray(0, Math.ceil(end * sent.length));
  });

/** Lengths of the chunks in which it comes, over and over. */
export const chunkLengths: fc.Arbitrary<readonly number[]> = fc.oneof(
  fc.constant([65_536]),
  fc.constant([1]),
  fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 8 }),
);

export function inChunks(sent: Buffer, lengths: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < sent.length; ) {
    const length = lengths[chunks.length % lengths.length] ?? 1;
    chunks.push(sent.subarray(at, at + length));
    at += length;
  }
  return chunks;
}
