import * as fc from "fast-check";
import { CLIENT_PREFACE } from "../../src/grpc/http2/frames";
import { requests } from "./arbitrary-headers";
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  frame,
  GOAWAY,
  HEADERS,
  HELLO,
  PADDED,
  PING,
  RST_STREAM,
  SETTINGS,
} from "./wire";

const PRIORITY_FRAME = 2;
const WINDOW_UPDATE = 8;

const bytes = (constraints: fc.IntArrayConstraints) =>
  fc.uint8Array(constraints).map((one) => Buffer.from(one));
const uint32 = fc
  .oneof(fc.constantFrom(0, 1, 65_535, 0x7fff_ffff, 0xffff_ffff), fc.nat(10_000_000))
  .map((value) => {
    const four = Buffer.alloc(4);
    four.writeUInt32BE(value);
    return four;
  });
const streams = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(1, 3, 5, 7, 9, 11) },
  fc.constantFrom(0, 2, 0x7fff_ffff),
);
const flags = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(0, 1, 4, 5) }, fc.nat(255));

const settings = fc
  .array(
    fc.tuple(fc.nat(9), uint32).map(([id, value]) => Buffer.concat([Buffer.of(0, id), value])),
    { maxLength: 4 },
  )
  .map((entries) => frame(SETTINGS, 0, 0, Buffer.concat(entries)));

const messages = fc.oneof(
  { weight: 3, arbitrary: fc.constant(Buffer.alloc(5)) },
  bytes({ maxLength: 60 }),
  fc.nat(16_000).map((length) => Buffer.alloc(length)),
);
const data = fc
  .tuple(streams, flags, messages)
  .map(([streamId, flag, message]) => frame(DATA, flag, streamId, message));
const paddedData = fc
  .tuple(streams, messages, fc.nat(255))
  .map(([streamId, message, padding]) =>
    frame(DATA, PADDED | 1, streamId, Buffer.concat([Buffer.of(padding), message, Buffer.alloc(padding)])),
  );

/** A header block in one frame, or in several, perhaps without its end. */
const headers = fc
  .tuple(
    streams,
    requests,
    fc.integer({ min: 1, max: 20_000 }),
    fc.constantFrom(0, 0, 0, 1),
    fc.integer({ min: 0, max: 12 }),
  )
  .map(([streamId, block, pieceLength, endStream, missing]) => {
    const pieces: Buffer[] = [];
    for (let at = 0; at < block.length; at += pieceLength) pieces.push(block.subarray(at, at + pieceLength));
    return Buffer.concat(
      pieces.map((piece, index) =>
        frame(
          index === 0 ? HEADERS : CONTINUATION,
          (index === 0 ? endStream : 0) | (index === pieces.length - 1 && missing > 0 ? END_HEADERS : 0),
          streamId,
          piece,
        ),
      ),
    );
  });
const calls = fc
  .tuple(streams, requests)
  .map(([streamId, block]) =>
    Buffer.concat([
      frame(HEADERS, END_HEADERS, streamId, block.subarray(0, 16_384)),
      frame(DATA, 1, streamId, Buffer.alloc(5)),
    ]),
  );

const frames = fc.oneof(
  { weight: 6, arbitrary: calls },
  { weight: 3, arbitrary: headers },
  data,
  paddedData,
  settings,
  uint32.map((word) => frame(PING, 0, 0, Buffer.concat([word, word]))),
  fc.tuple(streams, uint32).map(([streamId, increment]) => frame(WINDOW_UPDATE, 0, streamId, increment)),
  fc.tuple(streams, uint32).map(([streamId, code]) => frame(RST_STREAM, 0, streamId, code)),
  fc
    .tuple(streams, bytes({ minLength: 5, maxLength: 5 }))
    .map(([streamId, payload]) => frame(PRIORITY_FRAME, 0, streamId, payload)),
  uint32.map((code) => frame(GOAWAY, 0, 0, Buffer.concat([Buffer.alloc(4), code]))),
  fc
    .tuple(fc.nat(255), flags, streams, bytes({ maxLength: 40 }))
    .map(([type, flag, streamId, payload]) => frame(type, flag, streamId, payload)),
);

interface Damage {
  readonly where: number;
  readonly value: number;
}
const share = fc.noBias(fc.nat(9_999)).map((parts) => parts / 10_000);
const damages = fc.oneof(
  { weight: 3, arbitrary: fc.constant<readonly Damage[]>([]) },
  fc.array(fc.record({ where: share, value: fc.nat(255) }), { maxLength: 4 }),
);
const greetings = fc.oneof(
  { weight: 20, arbitrary: fc.constant(HELLO) },
  { weight: 1, arbitrary: fc.constant(CLIENT_PREFACE) },
  { weight: 1, arbitrary: bytes({ maxLength: 24 }) },
);
/** How much of it all is sent. */
const ends = fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, share);

/** What a client sends on one connection: often all valid, often damaged in some bytes, cut anywhere. */
export const connections: fc.Arbitrary<Buffer> = fc
  .tuple(greetings, fc.array(frames, { minLength: 1, maxLength: 16 }), damages, ends)
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
