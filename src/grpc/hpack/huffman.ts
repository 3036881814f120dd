import { refuse } from "../http2/protocol-violation";

/** The bits of each symbol's code, from symbol 0 to 255 (RFC 7541, appendix B), in base 36: `d` is 13, `u` is 30. */
const CODE_LENGTHS = [
  "dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca",
  "d67777777777777777777777878djde6f56565666577666567655677777fbeds",
  "kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn",
  "qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq",
].join("");

const SHORTEST_CODE_BITS = 5;
const LONGEST_CODE_BITS = 30;
const MOST_PADDING_BITS = 7;
const INVALID = "a header string that is not valid Huffman code";

/** Symbols by their codes; bits are written as a number with a 1 in front, so that those that begin with 0 differ. */
const SYMBOLS = new Map<number, number>();
const NO_BITS = 1;

/**
 * The code is canonical: codes of one length are consecutive numbers in the order of their symbols, and a longer code
 * goes on where the shorter ones stopped. After the last comes the end-of-string code, which HPACK forbids to send.
 */
function fillSymbols(): void {
  let code = 0;
  for (let bits = SHORTEST_CODE_BITS; bits <= LONGEST_CODE_BITS; bits++, code *= 2)
    for (let symbol = 0; symbol < CODE_LENGTHS.length; symbol++)
      if (Number.parseInt(CODE_LENGTHS.charAt(symbol), 36) === bits) SYMBOLS.set(2 ** bits + code++, symbol);
}

/** The beginnings of codes that were reached, as in `SYMBOLS`. A state is an index of this list. */
const PREFIXES = [NO_BITS];
/**
 * For each state and each four bits there: the next state, times 512, and one more than the symbol that they end, 0 if
 * they end none. Or NOWHERE.
 */
const ROWS: Int32Array[] = [];
const STATE_SHIFT = 9;
const SYMBOL_MASK = 511;
const NOWHERE = -1;

function rowOf(state: number): Int32Array {
  if (SYMBOLS.size === 0) fillSymbols();
  const row = new Int32Array(16);
  for (let bits = 0; bits < row.length; bits++) {
    let prefix = PREFIXES[state] as number;
    let ended = 0; // One at most, because no code has less than five bits.
    for (let bit = 3; bit >= 0; bit--) {
      prefix = prefix * 2 + ((bits >>> bit) & 1);
      const symbol = SYMBOLS.get(prefix);
      if (symbol === undefined) continue;
      ended = symbol + 1;
      prefix = NO_BITS;
    }
    if (!PREFIXES.includes(prefix)) PREFIXES.push(prefix);
    const isEndOfString = prefix >= 2 ** LONGEST_CODE_BITS;
    row[bits] = isEndOfString ? NOWHERE : (PREFIXES.indexOf(prefix) << STATE_SHIFT) + ended;
  }
  ROWS[state] = row;
  return row;
}

/**
 * Decodes a Huffman-coded string into Latin-1 text, which is at most 8/5 as long. Throws `PROTOCOL` for the
 * end-of-string code and for an end that is not padded with fewer than eight ones (RFC 7541, section 5.2).
 *
 * Four bits at a time: this process runs without V8's optimiser, and any client may send code. The text is gathered as
 * bytes: V8 keeps a string that grows by single characters as a chain of 32 bytes for each.
 */
export function decodeHuffman(bytes: Buffer): string {
  const text = Buffer.allocUnsafe(Math.floor((bytes.length * 8) / SHORTEST_CODE_BITS));
  let written = 0;
  let state = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    for (let shift = 4; shift >= 0; shift -= 4) {
      const step = (ROWS[state] ?? rowOf(state))[(byte >>> shift) & 15] as number;
      if (step === NOWHERE) refuse(INVALID);
      const symbol = step & SYMBOL_MASK;
      if (symbol > 0) text[written++] = symbol - 1;
      state = step >>> STATE_SHIFT;
    }
  }
  const padding = PREFIXES[state] as number;
  const isAllOnes = (padding & (padding + 1)) === 0;
  if (!isAllOnes || padding >= 2 ** (MOST_PADDING_BITS + 1)) refuse(INVALID);
  return text.toString("latin1", 0, written);
}
