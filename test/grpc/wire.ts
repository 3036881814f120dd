import { readFileSync } from "node:fs";
import { join } from "node:path";
import { encodeLiterals } from "../../src/grpc/hpack/encoder";
import type { HeaderField } from "../../src/grpc/hpack/static-table";
import { CLIENT_PREFACE, encodeFrame, FrameFlag, FrameType } from "../../src/grpc/http2/frames";

export const { DATA, HEADERS, RST_STREAM, GOAWAY, CONTINUATION } = FrameType;
export const { END_STREAM, END_HEADERS, PADDED, PRIORITY } = FrameFlag;
export const SETTINGS = 4;
export const PING = 6;

export const RAW_PATH = "/var/lib/kubelet/plugins_registry/hostpath.csi.k8s.io-reg.sock";

export function frame(
  type: number,
  flags: number,
  streamId: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  return encodeFrame(type, flags, streamId, payload);
}

/** A client's first words. */
export const HELLO: Buffer = Buffer.concat([CLIENT_PREFACE, frame(SETTINGS, 0, 0)]);

export function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replace(/\s/g, ""), "hex");
}

export function headerBlock(...fields: HeaderField[]): Buffer {
  return encodeLiterals(fields);
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

/** What a client sends that makes one call. */
export const ONE_CALL: Buffer = Buffer.concat([HELLO, getInfoCall(1, RAW_PATH)]);

/** Recorded bytes; what begins with `#` is a comment. */
export function fixture(name: string): Buffer {
  return bytesOf(readFileSync(join(__dirname, "fixtures", name), "latin1").replace(/^#.*$/gm, ""));
}

/** Numbers in [0, 1) that are the same in every run (Marsaglia's xorshift). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Cuts bytes into chunks of 1 to `longest` bytes. */
export function randomChunks(bytes: Buffer, random: () => number, longest: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + Math.floor(random() * longest);
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}
