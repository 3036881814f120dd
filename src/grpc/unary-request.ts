import { refuse } from "./http2/protocol-violation";

/** A byte that says whether the message is compressed, and four for its length, come before each message. */
const MESSAGE_PREFIX_BYTES = 5;

/** The largest message that we take needs five of the largest frames; kubelet's comes in one. */
const MAX_DATA_FRAMES = 64;

/** Follows what a client sends in one unary call; refuses what no such call has. */
export interface UnaryRequest {
  /** A DATA frame begins. */
  frame(): void;
  /** The next of what DATA frames hold, without their padding. */
  content(piece: Buffer): void;
}

/**
 * One message, in a bounded number of frames. grpc-js keeps each message that a client sends, and each part of one, as
 * objects of hundreds of bytes: an empty message is 5 bytes on the wire, and a compressed one gets a decompressor of its
 * own. What 64 connections can send at one time would take gigabytes.
 */
export function createUnaryRequest(): UnaryRequest {
  let frames = 0;
  let prefixBytes = 0;
  let messageBytesLeft = 0;
  return {
    frame() {
      frames += 1;
      if (frames > MAX_DATA_FRAMES) refuse(`a call of more than ${MAX_DATA_FRAMES} DATA frames`);
    },
    content(piece) {
      const ofPrefix = piece.subarray(0, MESSAGE_PREFIX_BYTES - prefixBytes);
      for (const byte of ofPrefix) {
        if (prefixBytes > 0) messageBytesLeft = messageBytesLeft * 256 + byte;
        prefixBytes += 1;
      }
      messageBytesLeft -= piece.length - ofPrefix.length;
      if (messageBytesLeft < 0) refuse("a call of more than one message");
    },
  };
}
