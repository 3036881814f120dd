import {
  boundText,
  boundTexts,
  escapeJson,
  escapeUnprintable,
  plain,
  quoteGo,
  quoteGoList,
  quoteText,
} from "../../src/logging/escape";

// Outcomes of Go's strconv.Quote (Go 1.26).
test.each([
  ["plain", '"plain"'],
  ["", '""'],
  ['a "quoted" word', String.raw`"a \"quoted\" word"`],
  ["back\\slash", String.raw`"back\\slash"`],
  ["\x07\b\f\n\r\t\v", String.raw`"\a\b\f\n\r\t\v"`],
  ["\x00 \x1b[31m \x7f", String.raw`"\x00 \x1b[31m \x7f"`],
  ["é ☃ 日本 😀 \ufffd", '"é ☃ 日本 😀 \ufffd"'],
  ["C1: \x80\x9b", String.raw`"C1: \u0080\u009b"`],
  ["separators: \u2028\u2029", String.raw`"separators: \u2028\u2029"`],
  ["format: \u202e\u200b\ufeff\u00ad", String.raw`"format: \u202e\u200b\ufeff\u00ad"`],
  ["spaces: \u00a0\u3000", String.raw`"spaces: \u00a0\u3000"`],
  ["no character: \uffff", String.raw`"no character: \uffff"`],
  ["private: \ue000 \u{e0001}", String.raw`"private: \ue000 \U000e0001"`],
  // Go cannot hold it.
  ["lone surrogates: \ud83d \ude00", String.raw`"lone surrogates: \ud83d \ude00"`],
])("%j is quoted as Go does: %s", (text, quoted) => {
  expect(quoteGo(text)).toBe(quoted);
  expect(quoteGoList([text, "b"])).toBe(`[${quoted} "b"]`);
});

test("escaped JSON keeps its value and last line feed, and has no unprintable character", () => {
  const value = { text: "a\x1b\x7f\x85\u2028\u202e\u{e0001}\ud83d é 😀" };
  const [line, ...rest] = escapeJson(`${JSON.stringify(value)}\n`).split("\n");
  expect(line).toBe(String.raw`{"text":"a\u001b\u007f\u0085\u2028\u202e\udb40\udc01\ud83d é 😀"}`);
  expect(rest).toEqual([""]);
  expect(JSON.parse(line ?? "")).toEqual(value);
  expect(escapeJson("\x85")).toBe(String.raw`\u0085`);
});

test("text for people becomes one line, keeps its quotes and has no control character", () => {
  expect(plain('a "b" é\n\x1b[2J')).toBe(String.raw`a "b" é\n\x1b[2J`);
  expect(escapeUnprintable('{"a": "é"}\nb\x1b')).toBe(String.raw`{"a": "é"}\nb\u001b`);
});

test("a quoted text is bounded, and has no control character", () => {
  expect(quoteText('a "b"\n\u202e\u200b\x1b')).toBe(String.raw`"a \"b\"\n\u202e\u200b\u001b"`);
  expect(quoteText("x".repeat(5_000))).toMatch(/^"x+ \[cut, 5000 characters in all\]"$/);
});

test("a long text is cut to its bound, and a second bound changes nothing", () => {
  const cut = boundText("x".repeat(100), 40);
  expect(cut).toBe(`${"x".repeat(11)} [cut, 100 characters in all]`);
  expect(boundText(cut, 40)).toBe(cut);
  expect(boundText("x".repeat(40), 40)).toBe("x".repeat(40));
});

test("each text of a value is cut, also names of fields", () => {
  const [long, cut] = ["y".repeat(41), boundText("y".repeat(41), 40)];
  const valueWith = (text: string) => ({
    text,
    list: [text, 1],
    map: { [text]: "z" },
    none: null,
    flag: true,
  });
  expect(boundTexts(valueWith(long), 40)).toEqual(valueWith(cut));
});
