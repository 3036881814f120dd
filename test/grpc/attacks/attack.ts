import { FrameFlag, FrameType } from "../../../src/grpc/guard/frames";
import { bytesOf, frame, grpcHeaders, HELLO, headerBlock } from "../wire";

/**
 * What becomes of it: the connection is closed, for this reason; or the call ends with a code, in RST_STREAM or as
 * grpc-status; or nothing happens.
 */
export type Outcome =
  | { readonly closed: string | RegExp }
  | { readonly reset: number }
  | { readonly answered: number }
  | "ignored";

/** What frame-allowance.ts says of a flood. */
export const NO_CALL = "200 frames that lead to no call";

/** Something that a hostile or broken client does on one connection. */
export interface Attack {
  readonly name: string;
  readonly bytes: Buffer;
  readonly outcome: Outcome;
  /** The call whose end shows what happened, where it is about calls. */
  readonly streamId?: number;
}

/** An attack after a good beginning. A text as outcome: why the connection is closed; other outcomes are of call 1, if of one. */
export function attack(
  name: string,
  frames: Buffer | readonly Buffer[],
  outcome: Outcome | string | RegExp,
  streamId = 1,
): Attack {
  const bytes = Buffer.concat([HELLO, ...[frames].flat()]);
  if (outcome === "ignored") return { name, bytes, outcome };
  if (typeof outcome === "string" || outcome instanceof RegExp)
    return { name, bytes, outcome: { closed: outcome } };
  return { name, bytes, outcome, streamId };
}

export function times(count: number, make: (index: number) => Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));
}

/** The head of a GetInfo call that goes on, with more header fields if there are. */
export function openCall(streamId: number, more: Buffer = Buffer.alloc(0)): Buffer {
  const fields = Buffer.concat([headerBlock(...grpcHeaders("localhost")), more]);
  return frame(FrameType.HEADERS, FrameFlag.END_HEADERS, streamId, fields);
}

/** With fields of 2000 times "a" in 1250 bytes of Huffman code each. */
export function openCallInHuffman(streamId: number, count = 2): Buffer {
  const code = Buffer.from("18c6318c63".repeat(250), "hex");
  const field = Buffer.concat([bytesOf("00 01 78 ff e3 08"), code]);
  return openCall(streamId, Buffer.concat(Array(count).fill(field)));
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
