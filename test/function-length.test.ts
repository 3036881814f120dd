import { filesBelow, readText } from "./docs/markdown";

const MOST = 60;
/** Of a function with inner functions, which must be short themselves. */
const MOST_OF_FACTORY = 100;

interface Function {
  readonly first: number;
  readonly last: number;
}

const indentOf = (line: string) => line.search(/\S/);
const BLOCK = /^(?:if|for|while|switch|do|try|else|catch|\} else|\} catch)\b/;

/** By the formatter's indentation: a function ends at the first line that is indented as little as its head. */
function functionsIn(lines: readonly string[]): readonly Function[] {
  return lines.flatMap((line, at) => {
    const text = line.trim();
    if (!/(?:=>|\)(?:: [^{}]*)?) \{$/.test(text) || BLOCK.test(text)) return [];
    const indent = indentOf(line);
    const isHead = (other: string) => other.trim() !== "" && indentOf(other) <= indent;
    const first = text.startsWith(")")
      ? lines.findLastIndex((other, place) => place < at && isHead(other))
      : at;
    return [{ first, last: lines.findIndex((other, place) => place > at && isHead(other)) }];
  });
}

const lengthOf = ({ first, last }: Function) => last - first + 1;

test(`a function has at most ${MOST} lines, one with inner functions ${MOST_OF_FACTORY}`, () => {
  const long = filesBelow("src", ".ts").flatMap((file) => {
    const functions = functionsIn(readText(file).split("\n"));
    return functions.flatMap((one) => {
      const inner = functions.filter(({ first, last }) => first > one.first && last < one.last);
      const most = inner.length > 1 ? MOST_OF_FACTORY : MOST;
      return lengthOf(one) > most ? [file] : [];
    });
  });
  expect(long).toEqual([]);
});

test("the lengths are those of the functions", () => {
  const text = [
    "const a = (",
    "  b: number,",
    ") => {",
    "  if (b) {",
    "    c();",
    "  }",
    "  return () => {",
    "  };",
    "};",
  ];
  expect(functionsIn(text).map(lengthOf)).toEqual([9, 2]);
});
