import { type FlagForm, parseWords } from "../../src/flags/grammar";
import { parseBool, parseDurationMs } from "../../src/flags/values";

const flags = new Map<string, FlagForm>([
  ["csi-address", { parse: (text) => text }],
  ["timeout", { parse: parseDurationMs }],
  ["version", { bare: "true", parse: parseBool }],
]);

// Each case was tried on the official registrar v2.17 (Go 1.26), whose flags these are.

/** The official's exit code is 2; its first line on stderr stands beside the arguments. */
const errors: [argv: string[], official: string][] = [
  [["-x"], "flag provided but not defined: -x"],
  [["--x=1"], "flag provided but not defined: -x"],
  [["-x=y=z"], "flag provided but not defined: -x"],
  [["-Timeout=1s"], "flag provided but not defined: -Timeout"],
  [["--constructor"], "flag provided but not defined: -constructor"],
  [["--__proto__=1"], "flag provided but not defined: -__proto__"],
  [["-é"], "flag provided but not defined: -é"],
  [["- "], "flag provided but not defined: - "],
  [["---x"], "bad flag syntax: ---x"],
  [["-=x"], "bad flag syntax: -=x"],
  [["--=x"], "bad flag syntax: --=x"],
  [["---help"], "bad flag syntax: ---help"],
  [["-timeout"], "flag needs an argument: -timeout"],
  [["--version", "--csi-address"], "flag needs an argument: -csi-address"],
  [["-timeout", "-x"], 'invalid value "-x" for flag -timeout: parse error'],
  [["-timeout", "--", "-x"], 'invalid value "--" for flag -timeout: parse error'],
  [["-timeout", ""], 'invalid value "" for flag -timeout: parse error'],
  [["-timeout=1s=2s"], 'invalid value "1s=2s" for flag -timeout: parse error'],
  [
    ['-timeout=a"b\\c\n\t\x01\x7fé€日\u200b'],
    'invalid value "a\\"b\\\\c\\n\\t\\x01\\x7fé€日\\u200b" for flag -timeout: parse error',
  ],
  [["-version=x"], 'invalid boolean value "x" for -version: parse error'],
  [["--version="], 'invalid boolean value "" for -version: parse error'],
  [["-timeout=x", "-y"], 'invalid value "x" for flag -timeout: parse error'],
  [["-x", "--help"], "flag provided but not defined: -x"],
  [["-timeout", "2s", "-x"], "flag provided but not defined: -x"],
];

test.each(errors)("%j is refused: %s", (argv, message) => {
  expect(parseWords(argv, flags)).toMatchObject({ kind: "error", message });
});

/** The official prints its usage on stderr; exit code 0. */
const help = ["-h", "--h", "-help", "--help", "--help=false", "-help=", "-h=x"];

test.each(help)("%s asks for help", (word) => {
  expect(parseWords([word], flags)).toEqual({ kind: "help" });
  expect(parseWords(["-version=false", word, "-x"], flags)).toEqual({ kind: "help" });
});

/** The official accepts these: each flag with its value as JSON, and the words left over. */
test.each<[argv: string[], settings: string, ...rest: string[]]>([
  [[], ""],
  [["-timeout", "2s"], "timeout=2000"],
  [["-timeout=2s"], "timeout=2000"],
  [["--csi-address="], 'csi-address=""'],
  [["--csi-address", ""], 'csi-address=""'],
  [["--csi-address=a=b"], 'csi-address="a=b"'],
  [["--csi-address=a\nb"], 'csi-address="a\\nb"'],
  [["-csi-address", "-timeout"], 'csi-address="-timeout"'],
  [["-csi-address", "--", "-version"], 'csi-address="--" version=true'],
  [["--csi-address=a", "--csi-address", "b"], 'csi-address="a" csi-address="b"'],
  [["-version"], "version=true"],
  [["--version=false"], "version=false"],
  [["--version", "--version=0"], "version=true version=false"],
  [["-version", "-csi-address=x"], 'version=true csi-address="x"'],
  [["-version", "false", "-x"], "version=true", "false", "-x"],
  [["--", "-x"], "", "-x"],
  [["-version", "--", "--", "-x"], "version=true", "--", "-x"],
  [["-", "-x"], "", "-", "-x"],
  [["word", "-x"], "", "word", "-x"],
  [["", "-x"], "", "", "-x"],
])("%j is read as %j", (argv, settings, ...rest) => {
  const line = parseWords(argv, flags);
  if (line.kind !== "parsed") throw new Error(`not accepted: ${JSON.stringify(line)}`);
  expect(line.settings.map(({ name, value }) => `${name}=${JSON.stringify(value)}`).join(" ")).toBe(settings);
  expect(line.rest).toEqual(rest);
});

const readOurs = (...argv: readonly string[]) => parseWords(argv, flags, "ours");
const parsed = (text: string) => ({ kind: "parsed", settings: [{ text }], rest: [] });

test.each(["", "a-b", "-5", "-10", "-.5", "-10.25", '"a"'])("our commands take %j as a value", (word) => {
  expect(readOurs("--csi-address", word)).toMatchObject(parsed(word));
});

test.each(["-", "-x", "--x", "-5x", "-1.2.3"])("our commands take %j as a value only behind a =", (word) => {
  expect(readOurs("--csi-address", word, "y")).toMatchObject({ incomplete: ["csi-address", word, "y"] });
  expect(readOurs(`--csi-address=${word}`)).toMatchObject(parsed(word));
});

test.each([
  ["'a b'", "a b"],
  ['"-x\n"', "-x\n"],
  ['""', ""],
  ...['x"a"', '"a"x', "\"a'"].map((text) => [text, text]),
])("quotes around a value of our commands are dropped: %j is %j", (given, text) => {
  expect(readOurs(`--csi-address=${given}`)).toMatchObject(parsed(text));
});
