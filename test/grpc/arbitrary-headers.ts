import * as fc from "fast-check";
import { hpackInteger, hpackString } from "./hpack/representations";

/** Some that are in HPACK's static table, some that gRPC gives a meaning, and some of nobody's. */
const names = fc.oneof(
  fc.constantFrom(
    "te",
    "user-agent",
    "grpc-timeout",
    "grpc-encoding",
    "grpc-accept-encoding",
    "x-bin",
    "accept",
  ),
  fc.stringMatching(/^[a-z][a-z0-9_.-]{0,12}$/),
);
const values = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[!-~]([ -~]{0,60}[!-~])?$/) },
  fc.constantFrom("", "gzip", "1S", "99999999H", "soon", "trailers"),
  fc.integer({ min: 100, max: 5_000 }).map((length) => "v".repeat(length)),
);

const strings = (content: fc.Arbitrary<string>) =>
  fc.tuple(content, fc.boolean()).map(([text, huffman]) => hpackString(text, huffman));

/** The three forms of a literal, and their prefixes (RFC 7541, section 6.2). */
const literalForms = fc.constantFrom<readonly [pattern: number, prefixBits: number]>(
  [0x40, 6],
  [0x00, 4],
  [0x10, 4],
);

const literals = fc
  .tuple(literalForms, names, fc.boolean(), strings(values))
  .map(([[pattern], name, huffman, value]) =>
    Buffer.concat([Buffer.of(pattern), hpackString(name, huffman), value]),
  );
/** Names of the static table that a request may have. */
const namedByIndex = fc
  .tuple(literalForms, fc.constantFrom(16, 19, 24, 51, 58), strings(values))
  .map(([[pattern, prefixBits], index, value]) =>
    Buffer.concat([hpackInteger(pattern, prefixBits, index), value]),
  );
const indexed = fc.constantFrom(16, 19, 24, 51, 58).map((index) => hpackInteger(0x80, 7, index));

/** What was put into the dynamic table before, and is often there. */
const remembered = fc
  .tuple(literals, fc.constantFrom(62, 62, 62, 63, 64))
  .map(([literal, index]) =>
    Buffer.concat([Buffer.of(0x40), literal.subarray(1), hpackInteger(0x80, 7, index)]),
  );

/** Fields as an encoder may write them, each by one of the ways there are. */
export const representations: fc.Arbitrary<Buffer> = fc
  .array(fc.oneof({ weight: 5, arbitrary: literals }, namedByIndex, indexed, remembered), { maxLength: 12 })
  .map((parts) => Buffer.concat(parts));

/** What an encoder says of its table before the first field. */
export const tableSizes: fc.Arbitrary<Buffer> = fc
  .array(fc.oneof({ weight: 5, arbitrary: fc.nat(4_096) }, fc.nat(5_000)), { maxLength: 3 })
  .map((sizes) => Buffer.concat(sizes.map((size) => hpackInteger(0x20, 5, size))));

/** What no encoder writes. */
export const hpackGarbage: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc
    .tuple(fc.constantFrom(0x80, 0x40, 0x00, 0x20), fc.nat(2 ** 40))
    .map(([pattern, value]) => hpackInteger(pattern, 4, value)),
  fc
    .uint8Array({ maxLength: 30 })
    .map((bytes) => Buffer.concat([Buffer.of(0, 1, 0x78, 0x80 | bytes.length), bytes])),
  fc.nat(16_000).map((length) => Buffer.alloc(length, 0xbe)),
);
