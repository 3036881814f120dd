/** The most fields of an answer that are decoded; the largest useful one has a few dozen. */
const MAX_FIELDS = 1_000;

/**
 * The beginning of a protobuf message, up to `MAX_FIELDS` fields: once decoded, a map's entry of 10 bytes takes 400. Returns
 * a message that is not protobuf as it is, because its decoder says what is wrong with it.
 */
export function firstFields(message: Buffer): Buffer {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; at < message.length; factor *= 128) {
      const byte = message[at++] as number;
      value += (byte % 128) * factor;
      if (byte < 128) break;
    }
    return value;
  };
  for (let fields = 0; at < message.length; fields++) {
    if (fields === MAX_FIELDS) return message.subarray(0, at);
    const wireType = varint() % 8;
    if (wireType === 0) varint();
    else if (wireType === 1) at += 8;
    else if (wireType === 2) {
      const length = varint(); // Moves `at`, so it comes first.
      at += length;
    } else if (wireType === 5) at += 4;
    else return message;
  }
  return message;
}
