import type { HeaderField } from "./static-table";

const LITERAL_WITHOUT_INDEXING = Buffer.of(0x00);

/** Announces a dynamic table of 0 bytes (RFC 7541, section 6.3). */
export const NO_TABLE: Buffer = Buffer.of(0x20);

/** Encodes header fields (RFC 7541, section 6.2.2) with their names spelled out, without the dynamic table. */
export function encodeLiterals(fields: readonly HeaderField[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([name, value]) => [
      LITERAL_WITHOUT_INDEXING,
      ...encodeString(name),
      ...encodeString(value),
    ]),
  );
}

function encodeString(text: string): Buffer[] {
  const bytes = Buffer.from(text, "latin1");
  return [encodeLength(bytes.length), bytes];
}

/** An integer with a prefix of 7 bits (RFC 7541, section 5.1). */
function encodeLength(length: number): Buffer {
  if (length < 0x7f) return Buffer.of(length);
  const bytes = [0x7f];
  let rest = length - 0x7f;
  for (; rest >= 0x80; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
