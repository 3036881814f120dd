import { refuse } from "../http2/protocol-violation";
import { decodeHuffman } from "./huffman";
import { type HeaderField, STATIC_TABLE } from "./static-table";

/** The default of SETTINGS_HEADER_TABLE_SIZE, which our server keeps (RFC 9113, section 6.5.2). */
const MAX_TABLE_BYTES = 4_096;

/** What a field counts beside its two strings, in a table and in a list (RFC 7541, section 4.1). */
const FIELD_OVERHEAD_BYTES = 32;

/** A larger table size or string length is over every bound. */
const MAX_INTEGER_CONTINUATION_BYTES = 4;

/** The most that one header block may hold once it is decoded: a few bytes on the wire can stand for very many. */
interface HeaderListLimits {
  readonly maxFields: number;
  /** Names and values, and 32 bytes for each field, as SETTINGS_MAX_HEADER_LIST_SIZE counts. */
  readonly maxBytes: number;
}

/**
 * Makes the HPACK decoder (RFC 7541) of one direction of one connection. It needs every block of the peer's in order, because
 * they fill the dynamic table. It throws `PROTOCOL` for anything malformed or over a limit; then it cannot decode the
 * connection's later blocks.
 */
export function createHpackDecoder(limits: HeaderListLimits): (block: Buffer) => readonly HeaderField[] {
  const table = createDynamicTable();

  const fieldAt = (index: number): HeaderField =>
    STATIC_TABLE[index - 1] ??
    table.get(index - 1 - STATIC_TABLE.length) ??
    refuse(`header index ${index} is in no table`);

  const readField = (bytes: BlockCursor): HeaderField => {
    const first = bytes.peek();
    if (first & 0x80) return fieldAt(bytes.integer(7));
    const indexed = (first & 0x40) !== 0;
    const nameIndex = bytes.integer(indexed ? 6 : 4);
    const name = nameIndex === 0 ? bytes.string() : fieldAt(nameIndex)[0];
    const field = [name, bytes.string()] as const;
    if (indexed) table.add(field);
    return field;
  };

  return (block) => {
    const bytes = createBlockCursor(block);
    while (!bytes.done() && (bytes.peek() & 0xe0) === 0x20) {
      const size = bytes.integer(5);
      if (size > MAX_TABLE_BYTES) refuse(`a header table of ${size} bytes, over ${MAX_TABLE_BYTES}`);
      table.resize(size);
    }
    const fields: HeaderField[] = [];
    let listBytes = 0;
    while (!bytes.done()) {
      if ((bytes.peek() & 0xe0) === 0x20) refuse("a header table size after a header field");
      const field = readField(bytes);
      listBytes += costOf(field);
      fields.push(field);
      if (fields.length > limits.maxFields) refuse(`more than ${limits.maxFields} header fields`);
      if (listBytes > limits.maxBytes) refuse(`header fields of more than ${limits.maxBytes} bytes`);
    }
    return fields;
  };
}

/** The dynamic table (RFC 7541, section 2.3.2): the newest entry is the first, the oldest is dropped. */
function createDynamicTable() {
  const entries: HeaderField[] = [];
  let bytes = 0;
  let maxBytes = MAX_TABLE_BYTES;
  const shrinkTo = (target: number) => {
    while (bytes > target) {
      const oldest = entries.pop();
      if (oldest === undefined) return;
      bytes -= costOf(oldest);
    }
  };
  return {
    get: (index: number): HeaderField | undefined => entries[index],
    add(field: HeaderField): void {
      const cost = costOf(field);
      shrinkTo(maxBytes - cost);
      if (cost > maxBytes) return; // Not an error: such an entry only empties the table (section 4.4).
      entries.unshift(field);
      bytes += cost;
    },
    resize(size: number): void {
      maxBytes = size;
      shrinkTo(size);
    },
  };
}

type BlockCursor = ReturnType<typeof createBlockCursor>;

/** Reads the primitive types of RFC 7541, section 5, one after the other. */
function createBlockCursor(block: Buffer) {
  let at = 0;
  const peek = (): number => block[at] ?? refuse("a header block ends in the middle of a field");
  const byte = (): number => {
    const value = peek();
    at += 1;
    return value;
  };
  const integer = (prefixBits: number): number => {
    const prefixMax = (1 << prefixBits) - 1;
    let value = byte() & prefixMax;
    if (value < prefixMax) return value;
    for (let count = 0; count < MAX_INTEGER_CONTINUATION_BYTES; count++) {
      const next = byte();
      value += (next & 0x7f) << (7 * count);
      if (next < 0x80) return value;
    }
    return refuse("a header integer without end");
  };
  const string = (): string => {
    const huffman = (peek() & 0x80) !== 0;
    const length = integer(7);
    if (length > block.length - at) refuse("a header string is longer than its block");
    const raw = block.subarray(at, at + length);
    at += length;
    return huffman ? decodeHuffman(raw) : raw.toString("latin1");
  };
  return { done: () => at >= block.length, peek, integer, string };
}

function costOf([name, value]: HeaderField): number {
  return name.length + value.length + FIELD_OVERHEAD_BYTES;
}
