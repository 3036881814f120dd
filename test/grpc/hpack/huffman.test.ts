import { decodeHuffman } from "../../../src/grpc/hpack/huffman";

/** Bits as a string, filled up with ones to whole bytes as RFC 7541, section 5.2, has it. */
function packed(bits: string): Buffer {
  const filled = bits.padEnd(Math.ceil(bits.length / 8) * 8, "1");
  return Buffer.from(Array.from(filled.matchAll(/.{8}/g), ([byte]) => Number.parseInt(byte, 2)));
}

function code(hex: string, bits: number): string {
  return Number.parseInt(hex, 16).toString(2).padStart(bits, "0");
}

/** The code of RFC 7541, appendix B: it is canonical, so the first and the last code of each length tell all of them. */
test.each([
  [5, "0", "0", "t", "9"],
  [6, " ", "14", "u", "2d"],
  [7, ":", "5c", "z", "7b"],
  [8, "&", "f8", "Z", "fd"],
  [10, "!", "3f8", "?", "3fc"],
  [11, "'", "7fa", "|", "7fc"],
  [12, "#", "ffa", ">", "ffb"],
  [13, "\x00", "1ff8", "~", "1ffd"],
  [14, "^", "3ffc", "}", "3ffd"],
  [15, "<", "7ffc", "{", "7ffe"],
  [19, "\\", "7fff0", "\xd0", "7fff2"],
  [20, "\x80", "fffe6", "\xe2", "fffed"],
  [21, "\x99", "1fffdc", "\xe6", "1fffe8"],
  [22, "\x81", "3fffd2", "\xe9", "3fffeb"],
  [23, "\x01", "7fffd8", "\xef", "7ffff4"],
  [24, "\t", "ffffea", "\xed", "fffff5"],
  [25, "\xc7", "1ffffec", "\xeb", "1ffffef"],
  [26, "\xc0", "3ffffe0", "\xff", "3ffffee"],
  [27, "\xcb", "7ffffde", "\xfe", "7fffff0"],
  [28, "\x02", "fffffe2", "\xf9", "ffffffe"],
  [30, "\n", "3ffffffc", "\x16", "3ffffffe"],
])("codes of %i bits, from %j = %s to %j = %s", (bits, first, firstCode, last, lastCode) => {
  expect(decodeHuffman(packed(code(firstCode, bits)))).toBe(first);
  expect(decodeHuffman(packed(code(lastCode, bits)))).toBe(last);
  const [from, to] = [Number.parseInt(firstCode, 16), Number.parseInt(lastCode, 16)];
  let between = "";
  for (let value = from; value <= to; value++)
    between += decodeHuffman(packed(code(value.toString(16), bits)));
  expect([...between]).toEqual([...new Set(between)].sort());
});

test("symbols follow each other without a gap", () => {
  expect(decodeHuffman(packed(code("7fffd8", 23) + code("3", 5) + code("fd", 8)))).toBe("\x01aZ");
  expect(decodeHuffman(Buffer.alloc(0))).toBe("");
});
