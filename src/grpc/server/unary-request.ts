import { status } from "@grpc/grpc-js";
import { MESSAGE_PREFIX_BYTES } from "../http2/frames";
import { refuse } from "../http2/protocol-violation";
import type { CallFailure } from "./unary-handler";

/** The least that is allocated for small pieces of a message. */
const BLOCK_BYTES = 1_024;

/** Padding counts as the message does. */
const MOST_PADDING_BYTES = 65_536;

/** The window of one call. It has room for the largest message, so no WINDOW_UPDATE is needed. */
export const callWindow = (maxMessageBytes: number): number => maxMessageBytes + MOST_PADDING_BYTES;

export type UnaryRequest = ReturnType<typeof createUnaryRequest>;

/**
 * Gathers the one message of a unary call, at most `maxMessageBytes`, and refuses anything else. It keeps copies, because a
 * slice keeps its chunk, and joins small pieces: one object for each byte would take a hundred times the bytes sent.
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
    bytes: () => bytes,
    /** A DATA frame of this many bytes begins. */
    frame(length: number): void {
      received += length;
      if (received > callWindow(maxMessageBytes)) refuse("more DATA in a call than its window takes");
    },
    /** Takes the next piece of DATA, without padding. Returns the failure that ends the call here, if any. */
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
    /** The message, or the failure, once the client has sent everything. */
    end(): Buffer | CallFailure {
      if (prefixBytes === MESSAGE_PREFIX_BYTES && missing() === 0) return Buffer.concat(blocks);
      return { code: status.UNIMPLEMENTED, details: "a unary call has one message, this one has none" };
    },
  };
}

/** A message as DATA frames contain it: not compressed. */
export function withMessagePrefix(message: Buffer): Buffer {
  const prefix = Buffer.alloc(MESSAGE_PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
