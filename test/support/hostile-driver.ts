import type { Socket } from "node:net";
import {
  CLIENT_PREFACE,
  createChunkConsumer,
  FrameFlag,
  FrameType,
  readFrameHeader,
} from "../../src/grpc/guard/frames";
import { type GetPluginInfoResponse, protos } from "../../src/grpc/protos";
import { frame, type HeaderField, headerBlock, PING, SETTINGS } from "../grpc/wire";

export type Behaviour = (connection: Socket) => void;

/** What an HTTP/2 server says first; also what changes its mind later. */
export const HELLO = frame(SETTINGS, 0, 0);

/** Speaks HTTP/2 as far as to say hello, does this on every call that comes, and that when a ping is answered. */
export function onCall(
  act: (connection: Socket, streamId: number) => void,
  onPong: (connection: Socket) => void = () => {},
): Behaviour {
  return (connection) => {
    const read = createChunkConsumer(function* (bytes) {
      yield* bytes.exactly(CLIENT_PREFACE.length);
      for (;;) {
        const { type, streamId, length } = yield* readFrameHeader(bytes, Number.POSITIVE_INFINITY);
        yield* bytes.exactly(length);
        if (type === FrameType.HEADERS) act(connection, streamId);
        if (type === PING) onPong(connection);
      }
    });
    connection.on("data", read).write(HELLO);
  };
}

export function answering(...parts: readonly ((streamId: number) => Buffer)[]): Behaviour {
  return onCall((connection, streamId) => {
    for (const part of parts) connection.write(part(streamId));
  });
}

const GRPC: readonly HeaderField[] = [
  [":status", "200"],
  ["content-type", "application/grpc"],
];

/** The head of an answer: gRPC's as it should be, but for the fields that are given. */
export function head(...fields: readonly HeaderField[]) {
  const others = GRPC.filter(([name]) => !fields.some(([given]) => given === name));
  return (streamId: number) => headers([...others, ...fields], FrameFlag.END_HEADERS, streamId);
}

export function trailers(...fields: readonly HeaderField[]) {
  return (streamId: number) => headers(fields, FrameFlag.END_HEADERS | FrameFlag.END_STREAM, streamId);
}

export const trailersOnly = (...fields: readonly HeaderField[]) => trailers(...GRPC, ...fields);

export function headers(fields: readonly HeaderField[], flags: number, streamId: number): Buffer {
  return frame(FrameType.HEADERS, flags, streamId, headerBlock(...fields));
}

/** Bytes of an answer, in frames as large as they may be; beyond 64 KiB a client would have to ask for more. */
export function data(bytes: Buffer) {
  return (streamId: number) => {
    const frames: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 16_384)
      frames.push(frame(FrameType.DATA, 0, streamId, bytes.subarray(at, at + 16_384)));
    return Buffer.concat(frames);
  };
}

/** A gRPC message: not compressed, as long as it is, unless something else is claimed. */
export function message(bytes: Buffer, { compressed = 0, length = bytes.length } = {}): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = compressed;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, bytes]);
}

export function identityBytes(identity: Partial<GetPluginInfoResponse>): Buffer {
  const whole = { name: "", vendorVersion: "", manifest: {}, ...identity };
  return protos.identity.GetPluginInfo.responseSerialize(whole);
}

/** Writes the same again and again, as fast as it is taken, until the connection ends. */
export function flood(connection: Socket, bytes: Buffer): void {
  const pump = () => {
    if (!connection.writable) return;
    // Where the other side keeps up there is never a drain to wait for: others must have their turn all the same.
    if (connection.write(bytes)) setImmediate(pump);
    else connection.once("drain", pump);
  };
  pump();
}
