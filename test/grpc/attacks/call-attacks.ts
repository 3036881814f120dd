import { gzipSync } from "node:zlib";
import {
  bytesOf,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  grpcHeaders,
  HEADERS,
  type HeaderField,
  headerBlock,
  PADDED,
  RST_STREAM,
} from "../wire";
import { type Attack, attack, NO_CALL, openCall, times, uint32 } from "./attack";

const [OK, RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL] = [0, 8, 12, 13];
/** 415, without grpc-status. */
const NO_STATUS = Number.NaN;
const LARGEST_FRAME = 16_384;

const REQUEST = grpcHeaders("localhost");
const NOTHING = Buffer.alloc(5);
const GZIP: HeaderField = ["grpc-encoding", "gzip"];

function call(fields: readonly HeaderField[], message: Buffer = NOTHING, streamId = 1): Buffer {
  const data = times(Math.ceil(message.length / LARGEST_FRAME), (index) => {
    const rest = message.subarray(index * LARGEST_FRAME);
    const flags = rest.length <= LARGEST_FRAME ? END_STREAM : 0;
    return frame(DATA, flags, streamId, rest.subarray(0, LARGEST_FRAME));
  });
  return Buffer.concat([frame(HEADERS, END_HEADERS, streamId, headerBlock(...fields)), data]);
}
const withField = (name: string, value: string) => call([...REQUEST, [name, value]]);
const without = (name: string) => REQUEST.filter(([one]) => one !== name);
const inGzip = (content: Buffer) => {
  const packed = gzipSync(content);
  return Buffer.concat([Buffer.of(1), uint32(packed.length), packed]);
};
const MINE: HeaderField = ["grpc-encoding", "mine"];
const MANY_IN_GZIP = times(600, () => inGzip(Buffer.alloc(0)));
const resetNow = frame(RST_STREAM, 0, 1, uint32(8));
const NOT_SERVED = grpcHeaders("localhost", "Reboot");
const notServed = call(NOT_SERVED);

/** Calls: good HTTP/2, hostile gRPC. The names are the rows of a table in docs/security.md. */
export const CALL_ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  "methods that are not served": [
    attack("one", notServed, { answered: UNIMPLEMENTED }),
    attack(
      "99 of them",
      times(99, (n) => call(NOT_SERVED, NOTHING, 2 * n + 1)),
      { answered: UNIMPLEMENTED },
    ),
    attack("and reset at once", [notServed, resetNow], "ignored"),
    attack("and broken off at once", [notServed, frame(0, 0, 0)], /^HTTP\/2 error/),
  ],
  "requests that are not gRPC's": [
    attack("no content-type", call(without("content-type")), { answered: NO_STATUS }),
    attack("a browser", call([...without("content-type"), ["content-type", "x/y"]]), { answered: NO_STATUS }),
    attack("CONNECT", call([[":method", "CONNECT"]]), { reset: 1 }),
    attack("Latin-1 in a field", withField("x", "caf\xe9"), { answered: OK }),
  ],
  "requests that are not HTTP's": [
    attack("a field of HTTP/1", withField("connection", "close"), { reset: 1 }),
    attack("no :scheme", call(without(":scheme")), { reset: 1 }),
  ],
  "odd grpc-timeout": [
    attack("no number", withField("grpc-timeout", "soon"), { answered: INTERNAL }),
    attack("4000 digits", withField("grpc-timeout", `${"9".repeat(4_000)}H`), { answered: OK }),
    attack("11000 years", withField("grpc-timeout", "99999999H"), { answered: OK }),
  ],
  "messages of more than 4 MB": [
    attack("a byte more", call(REQUEST, Buffer.concat([bytesOf("00 00400001"), Buffer.alloc(60_000)])), {
      answered: RESOURCE_EXHAUSTED,
    }),
    attack("as it says: 4 GB", call(REQUEST, bytesOf("00 ffffffff")), { answered: RESOURCE_EXHAUSTED }),
    attack("gzip bomb: 16 MB in 16 kB", call([...REQUEST, GZIP], inGzip(Buffer.alloc(16_000_000))), {
      answered: RESOURCE_EXHAUSTED,
    }),
  ],
  "messages that mean nothing": [
    attack("cut short", call(REQUEST, bytesOf("00 00000010 0a")), { answered: UNIMPLEMENTED }),
    attack("garbage", call(REQUEST, bytesOf("00 00000004 ffffffff")), { answered: INTERNAL }),
    attack("no gzip", call([...REQUEST, GZIP], bytesOf("01 00000004 ffffffff")), { answered: INTERNAL }),
    attack("another compression", call([...REQUEST, MINE], bytesOf("01 00000001 00")), {
      answered: UNIMPLEMENTED,
    }),
  ],
  "more than one message in a call": [
    attack("3000 empty ones", call(REQUEST, Buffer.alloc(15_000)), { answered: UNIMPLEMENTED }),
    attack("600 in gzip", call([...REQUEST, GZIP], MANY_IN_GZIP), { answered: UNIMPLEMENTED }),
  ],
  "more DATA than one message has": [
    attack("of nothing", [openCall(1), times(1_000, () => frame(DATA, 0, 1))], NO_CALL),
    attack(
      "padding without end",
      [openCall(1), times(20_000, () => frame(DATA, PADDED, 1, Buffer.alloc(256, 255)))],
      /^too many bytes of unfinished requests|FLOW_CONTROL_ERROR/,
    ),
  ],
};
