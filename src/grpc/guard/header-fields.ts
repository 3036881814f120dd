import { refuseFrame } from "./frames";

/** What nghttp2 takes as `:authority` (nghttp2_http.c, VALID_AUTHORITY_CHARS); until 1.63 it took `@`, too. */
const LEGAL = /^[!$%&'()*+,\-.0-9:;=A-Z[\]_a-z~]+$/;

/** The Huffman codes of up to 13 bits, in their order, by their length (RFC 7541, appendix B); all legal bytes are among them. */
const HUFFMAN: Readonly<Record<number, string>> = {
  5: "012aceiost",
  6: " %-./3456789=A_bdfghlmnpru",
  7: ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz",
  8: "&*,;XZ",
  10: '!"()?',
  11: "'+|",
  12: "#>",
  13: "\0$@[]~",
};

/** `:authority` in a literal that spells its name out: as it is, and in Huffman code. */
const NAMES = [":authority", Buffer.from("b83b5339ec327d7f", "hex").toString("latin1")];

const AUTHORITY_INDEX = 1;
const FIRST_DYNAMIC_INDEX = 62;
/** What a field counts beside its two strings (RFC 7541, section 4.1). */
const FIELD_OVERHEAD_BYTES = 32;
/** A table of 4,096 bytes, nghttp2's size, holds no more. */
const MAX_ENTRIES = 128;
/** Of one block once it is decoded: a few bytes can stand for very many. */
const MAX_LIST_BYTES = 65_536;

interface Entry {
  readonly isAuthority: boolean;
  readonly bytes: number;
}
const AUTHORITY_ENTRY: Entry = { isAuthority: true, bytes: FIELD_OVERHEAD_BYTES };
const OF_NO_TABLE: Entry = { isAuthority: false, bytes: FIELD_OVERHEAD_BYTES };

/**
 * Creates the function that reads each header block of one client, in order. It replaces, in place, an `:authority` that
 * nghttp2 would refuse, and returns one that is spelled out, as the client sent it. It throws `PROTOCOL` for too many bytes, and leaves a malformed block to
 * nghttp2, and an empty authority.
 *
 * Kubelets up to 1.28 send the socket's raw path (grpc-go before 1.57). The new value is as many `a` as the old one has
 * encoded bytes, so no length changes. HPACK's table at our end then has a smaller entry than the client's: it is evicted
 * later, and because indices count from the newest entry, every index of the client still means the same.
 */
export function createFieldReader(): (block: Buffer) => string | undefined {
  /** The dynamic table, newest first, with the older entries that the client may have evicted. */
  const entries: Entry[] = [];
  const entryAt = (index: number) =>
    index === AUTHORITY_INDEX ? AUTHORITY_ENTRY : (entries[index - FIRST_DYNAMIC_INDEX] ?? OF_NO_TABLE);
  return (block) => {
    let at = 0;
    let listBytes = 0;
    let sent: string | undefined;
    const integer = (prefixBits: number): number => {
      const prefixMax = 2 ** prefixBits - 1;
      let value = (block[at++] ?? 0) & prefixMax;
      for (let factor = 1, byte = value === prefixMax ? 0x80 : 0; byte >= 0x80; factor *= 128) {
        byte = block[at++] ?? 0;
        value += (byte & 0x7f) * factor;
      }
      return value;
    };
    const string = () => {
      const start = at;
      const length = integer(7);
      const content = block.subarray(at, at + length);
      at += length;
      return { start, content };
    };
    const count = (bytes: number) => {
      listBytes += bytes;
      if (listBytes > MAX_LIST_BYTES) refuseFrame(`header fields of more than ${MAX_LIST_BYTES} bytes`);
    };
    while (at < block.length) {
      const first = block[at] as number;
      if (first >= 0x80) {
        count(entryAt(integer(7)).bytes);
        continue;
      }
      if ((first & 0xe0) === 0x20) {
        integer(5); // The size of the table.
        continue;
      }
      const isAdded = first >= 0x40;
      const index = integer(isAdded ? 6 : 4);
      const name = index === 0 ? string().content : undefined;
      const isAuthority = name ? NAMES.includes(name.toString("latin1")) : entryAt(index).isAuthority;
      const { start, content } = string();
      const bytes = FIELD_OVERHEAD_BYTES + (name?.length ?? 0) + content.length;
      count(bytes);
      if (isAdded) entries.unshift({ isAuthority, bytes });
      entries.splice(MAX_ENTRIES);
      if (!isAuthority || content.length === 0) continue;
      const isHuffman = (block[start] as number) >= 0x80;
      const authority = isHuffman ? decodeHuffman(content) : content.toString("latin1");
      sent = authority;
      if (LEGAL.test(authority)) continue;
      block[start] = (block[start] as number) & 0x7f;
      content.fill("a");
    }
    return sent;
  };
}

/** The text, with a space in place of each code of more than 13 bits. */
function decodeHuffman(bytes: Buffer): string {
  let text = "";
  let code = 0;
  let length = 0;
  let firstOfLength = 0;
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    code = code * 2 + (((bytes[bit >> 3] as number) >> (7 - (bit & 7))) & 1);
    firstOfLength *= 2;
    length += 1;
    const symbols = HUFFMAN[length] ?? "";
    if (code - firstOfLength < symbols.length) {
      text += symbols[code - firstOfLength];
      code = length = firstOfLength = 0;
    } else {
      firstOfLength += symbols.length;
      if (length > 13) return `${text} `;
    }
  }
  return text;
}
