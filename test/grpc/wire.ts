import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CLIENT_PREFACE, FRAME_HEADER_BYTES, FrameFlag, FrameType } from "../../src/grpc/guard/frames";

/** A header field; both strings are Latin-1, one character a byte, as they stand on the wire. */
export type HeaderField = readonly [name: string, value: string];

export const { DATA, HEADERS, RST_STREAM, GOAWAY, CONTINUATION } = FrameType;
export const { END_STREAM, END_HEADERS, PADDED, PRIORITY } = FrameFlag;
export const SETTINGS = 4;
export const PING = 6;
export const WINDOW_UPDATE = 8;

export const RAW_PATH = "/var/lib/kubelet/plugins_registry/hostpath.csi.k8s.io-reg.sock";

export function frame(
  type: number,
  flags: number,
  streamId: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(streamId, 5);
  return Buffer.concat([header, payload]);
}

/** SETTINGS_HEADER_TABLE_SIZE 0: whoever reads the answers keeps no table. */
const NO_TABLE = Buffer.from([0, 1, 0, 0, 0, 0]);

export const HELLO: Buffer = Buffer.concat([CLIENT_PREFACE, frame(SETTINGS, 0, 0, NO_TABLE)]);

export function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replace(/\s/g, ""), "hex");
}

/** Header fields as literals with their names spelled out (RFC 7541, section 6.2.2). */
export function headerBlock(...fields: readonly HeaderField[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), ...string(name), ...string(value)]));
}

/** A length with a prefix of 7 bits (RFC 7541, section 5.1), and the bytes. */
function string(text: string): Buffer[] {
  const bytes = Buffer.from(text, "latin1");
  if (bytes.length < 0x7f) return [Buffer.of(bytes.length), bytes];
  const length = [0x7f];
  let rest = bytes.length - 0x7f;
  for (; rest >= 0x80; rest >>= 7) length.push((rest & 0x7f) | 0x80);
  return [Buffer.from([...length, rest]), bytes];
}

export function grpcHeaders(authority: string, method = "GetInfo"): HeaderField[] {
  return [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", `/pluginregistration.Registration/${method}`],
    [":authority", authority],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
  ];
}

/** A whole GetInfo call: its headers and an empty message. */
export function getInfoCall(streamId: number, authority: string): Buffer {
  return Buffer.concat([
    frame(HEADERS, END_HEADERS, streamId, headerBlock(...grpcHeaders(authority))),
    frame(DATA, END_STREAM, streamId, Buffer.alloc(5)),
  ]);
}

export const ONE_CALL: Buffer = Buffer.concat([HELLO, getInfoCall(1, RAW_PATH)]);

/** Recorded bytes; what begins with `#` is a comment. */
export function fixture(name: string): Buffer {
  return bytesOf(readFileSync(join(__dirname, "fixtures", name), "latin1").replace(/^#.*$/gm, ""));
}

export const chunksOf = (bytes: Buffer, length: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    bytes.subarray(index * length, (index + 1) * length),
  );
