import { status } from "@grpc/grpc-js";
import { MESSAGE_PREFIX_BYTES } from "../http2/frames";
import { refuse } from "../http2/protocol-violation";
import type { CallFailure } from "./unary-handler";

/** Small pieces of a message are kept together in blocks of so much. */
const BLOCK_BYTES = 1_024;

/** Padding, which counts as the message does. */
const MOST_PADDING_BYTES = 65_536;

/** The window of one call. It has room for the largest message, so no WINDOW_UPDATE is needed. */
export const callWindow = (maxMessageBytes: number): number => maxMessageBytes + MOST_PADDING_BYTES;

export type UnaryRequest = ReturnType<typeof createUnaryRequest>;

/**
 * Gathers what a client sends in one unary call: one message, of at most `maxMessageBytes`.
 * Refuses what no such call has. Keeps copies, as a slice keeps its chunk, and small pieces together: an object for each
 * would take a hundred times what a client sends byte by byte.
 */
export function createUnaryRequest(maxMessageBytes: number) {
  const prefix = Buffer.alloc(MESSAGE_PREFIX_BYTES);
  const blocks: Buffer[] = [];
  let filledOfLast = 0;
  let received = 0;
  let prefixBytes = 0;
  let bytes = 0;
  const missing = () => prefix.readUInt32BE(1) - bytes;

  function keep(piece: Buffer): void {
    for (let rest = piece; rest.length > 0; ) {
      let last = blocks.at(-1);
      if (last === undefined || filledOfLast === last.length) {
        last = Buffer.allocUnsafeSlow(Math.min(Math.max(rest.length, BLOCK_BYTES), missing()));
        blocks.push(last);
        filledOfLast = 0;
      }
      const copied = rest.copy(last, filledOfLast);
      filledOfLast += copied;
      bytes += copied;
      rest = rest.subarray(copied);
    }
  }

  return {
    /** What is kept so far. */
    get bytes() {
      return bytes;
    },
    /** A DATA frame of so many bytes begins. */
    frame(length: number): void {
      received += length;
      if (received > callWindow(maxMessageBytes)) refuse("more DATA in a call than its window takes");
    },
    /** The next of what DATA frames hold, without their padding. Returns why the call is to end here, if it is. */
    content(piece: Buffer): CallFailure | undefined {
      const ofPrefix = piece.copy(prefix, prefixBytes);
      prefixBytes += ofPrefix;
      if (prefixBytes < MESSAGE_PREFIX_BYTES) return undefined;
      const rest = piece.subarray(ofPrefix);
      if (rest.length > missing()) refuse("a call of more than one message");
      const length = prefix.readUInt32BE(1);
      if (length > maxMessageBytes) {
        const details = `a message of ${length} bytes, over ${maxMessageBytes}`;
        return { code: status.RESOURCE_EXHAUSTED, details };
      }
      if (prefix[0] !== 0)
        return { code: status.UNIMPLEMENTED, details: "compressed messages are not taken" };
      keep(rest);
      return undefined;
    },
    /** The client has sent everything: its message, or the failure. */
    end(): Buffer | CallFailure {
      if (prefixBytes === MESSAGE_PREFIX_BYTES && missing() === 0) return Buffer.concat(blocks);
      return { code: status.UNIMPLEMENTED, details: "a unary call has one message, and here is none" };
    },
  };
}

/** A message as it goes into DATA frames: not compressed. */
export function withMessagePrefix(message: Buffer): Buffer {
  const prefix = Buffer.alloc(MESSAGE_PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
