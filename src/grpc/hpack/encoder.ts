import type { HeaderBlock } from "./decoder";

const LITERAL_WITHOUT_INDEXING = Buffer.of(0x00);
const TABLE_SIZE_UPDATE = 0x20;

/**
 * Encodes a header block (RFC 7541) as literals with their names spelled out, without the dynamic table. A decoder that has
 * lowered its maximum wants the table's size before the first field (section 4.2).
 */
export function encodeLiterals(block: HeaderBlock): Buffer {
  const parts = block.tableSizes.map((size) => encodeInteger(TABLE_SIZE_UPDATE, 5, size));
  for (const [name, value] of block.fields) {
    parts.push(LITERAL_WITHOUT_INDEXING, ...encodeString(name), ...encodeString(value));
  }
  return Buffer.concat(parts);
}

function encodeString(text: string): Buffer[] {
  const bytes = Buffer.from(text, "latin1");
  return [encodeInteger(0, 7, bytes.length), bytes];
}

/** RFC 7541, section 5.1: `pattern` fills the bits of the first byte that the prefix leaves. */
function encodeInteger(pattern: number, prefixBits: number, value: number): Buffer {
  const prefixMax = (1 << prefixBits) - 1;
  if (value < prefixMax) return Buffer.of(pattern | value);
  const bytes = [pattern | prefixMax];
  let rest = value - prefixMax;
  for (; rest >= 0x80; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
