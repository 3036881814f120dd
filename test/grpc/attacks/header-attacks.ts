import { bytesOf, CONTINUATION, END_HEADERS, frame, grpcHeaders, HEADERS, headerBlock, PING } from "../wire";
import { type Attack, attack, times } from "./attack";

const request = headerBlock(...grpcHeaders("localhost"));
const block = (...parts: Buffer[]) => frame(HEADERS, END_HEADERS, 1, Buffer.concat(parts));
const headers = (...parts: Buffer[]) => block(request, ...parts);
const ENHANCE_YOUR_CALM = 11;
const TOO_MUCH = "header fields of more than 65536 bytes";
const TABLE_SIZES = times(500, () => bytesOf("20 3f e1 1f"));
const endless = "more than 8 CONTINUATION frames";
const field = bytesOf("00 01 78 01 79");
const beginning = frame(HEADERS, 0, 1, request);

/** A field whose value of 4000 bytes goes into the dynamic table; `be` is the index of what came there last. */
const bigEntry = Buffer.concat([bytesOf("40 01 78 7f a11e"), Buffer.alloc(4_000, "y")]);

/** Header blocks: HPACK (RFC 7541), and what carries it. The names are the rows of a table in docs/security.md. */
export const HEADER_ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  "CONTINUATION flood (CVE-2024-27983)": [
    attack("with fields", [beginning, times(1_000, () => frame(CONTINUATION, 0, 1, field))], endless),
    attack("of nothing", [beginning, times(1_000, () => frame(CONTINUATION, 0, 1))], endless),
    attack("another frame", [beginning, frame(PING, 0, 0)], "a frame of type 6 inside a header block"),
  ],
  "header blocks of more than 65536 bytes": [
    attack(
      "as sent",
      [beginning, times(5, () => frame(CONTINUATION, 0, 1, Buffer.alloc(16_000)))],
      "a header block of more than 65536 bytes",
    ),
    attack("HPACK bomb: 4000 bytes, repeated 60 times", headers(bigEntry, Buffer.alloc(60, 0xbe)), TOO_MUCH),
  ],
  "more than 128 header fields": [
    attack("200 small ones", headers(Buffer.alloc(200, 0x90)), { reset: ENHANCE_YOUR_CALM }),
    attack("10000 small ones", headers(Buffer.alloc(10_000, 0x90)), TOO_MUCH),
  ],
  "a large HPACK table": [attack("65536 bytes", block(bytesOf("3f e1 ff 03"), request), /^HTTP\/2 error/)],
  "HPACK table sizes, over and over": [attack("1000 of them", block(TABLE_SIZES, request), "ignored")],
  "HPACK that means nothing": [
    attack("Huffman garbage", headers(bytesOf("00 01 78 84 ff ff ff ff")), /^HTTP\/2 error/),
    attack("an index out of range", headers(bytesOf("ff 80 01")), /^HTTP\/2 error/),
  ],
};
