/** A byte that says whether the message is compressed, and four for its length, come before each message. */
export const MESSAGE_PREFIX_BYTES = 5;

/** A message as it goes into DATA frames: not compressed. */
export function withMessagePrefix(message: Buffer): Buffer {
  const prefix = Buffer.alloc(MESSAGE_PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
