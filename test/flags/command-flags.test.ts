import { type CommandFlags, readCommandFlags } from "../../src/flags/command-flags";
import * as kinds from "../../src/flags/kinds";
import { ACCEPTED_FLAGS } from "../../src/flags/table";

const { listFlag, switchFlag, textFlag } = kinds;
const OWN = {
  "csi-address": textFlag("an address"),
  timeout: { ...textFlag("a time"), default: "1s" },
  file: { ...listFlag("a file"), alias: "f" },
  cluster: switchFlag("a cluster"),
  swap: { ...textFlag("an image"), bare: "" },
};
const read = (...argv: readonly string[]) => readCommandFlags("doctor", OWN, argv, ACCEPTED_FLAGS);
const given = (values: object) => ({ timeout: "1s", ...values });

test.each<readonly [argv: readonly string[], values: object]>([
  [["-v", "5", "-csi-address", "/a", "--enable-pprof"], { csiAddress: "/a" }],
  [["--csi-address=/a", "--csi-address=/b", "--timeout=no"], { csiAddress: "/b", timeout: "no" }],
  [["--csi-address", "-x"], { csiAddress: "-x" }],
  [["--csi-address=", '--timeout="1s"'], { csiAddress: "", timeout: '"1s"' }],
  [["--cluster=no", "--cluster=f"], { cluster: false }],
  [["-f", "a", "--cluster", "--swap", "-f=b"], { file: ["a", "b"], cluster: true, swap: "" }],
])("%j is read as the registrar reads it: %j", (argv, values) => {
  expect(read(...argv).values).toEqual(given(values));
});

test.each([
  ["--v=high", 'invalid value "high" for flag -v: strconv.ParseUint: parsing "high": invalid syntax'],
  ["--csi-address", "flag needs an argument: -csi-address"],
  ["--csi-adress=/a", "there is no flag --csi-adress; did you mean --csi-address?"],
  ["--clusters", "there is no flag --clusters; did you mean --cluster?"],
  ["--frobnicate", "there is no flag --frobnicate; see registrar doctor --help"],
  ["--enable-pprof true", '"true" is no flag; see registrar doctor --help'],
  ["-f a.yaml b.yaml", '"b.yaml" is no flag; write --file=b.yaml'],
])("arguments that stop the registrar are a problem: %s", (words, problem) => {
  expect(() => read(...words.split(" "))).toThrow(problem);
});

const KEY_VALUE = kinds.pairsFlag("a pair", (text): readonly [string, number] => [
  text.charAt(0),
  text.length,
]);
const FLAGS = {
  ...{
    text: textFlag("a text"),
    name: kinds.namedFlag("a name"),
    list: { ...listFlag("texts"), alias: "l" },
  },
  ...{ directory: kinds.directoryFlag("a directory"), socket: kinds.socketFlag("a socket"), pair: KEY_VALUE },
  ...{
    wait: kinds.durationFlag("a time"),
    limit: kinds.timeoutFlag("a limit"),
    count: kinds.countFlag("a count"),
  },
  ...{
    times: kinds.timesFlag("times"),
    "old-switch": switchFlag("a switch"),
    swap: { ...textFlag("?"), bare: "" },
  },
  choice: kinds.choiceFlag("one", ["first", "Second", "1.20"]),
  choices: kinds.choicesFlag("some", ["first", "Second", "1.20"]),
  output: kinds.eventOutputFlag,
  needs: { ...textFlag("needs the switch"), implies: "old-switch" },
  against: { ...switchFlag("not with the switch"), conflicts: "old-switch" },
};
const REQUIRED = { one: { ...textFlag("one"), required: true }, two: { ...textFlag("two"), required: true } };

/** The values, or why the words are refused. */
function outcomeOf(rows: CommandFlags, words: string): string {
  try {
    const { values } = readCommandFlags("tool", rows, words.split(" ").filter(Boolean));
    return JSON.stringify(values);
  } catch (error) {
    return `${error}`;
  }
}

test("each kind of flag of our commands takes or refuses a value", () => {
  const LONG = "x".repeat(107);
  const ofFlags = {
    text: ["=a", "", "=", " -x", "=-x", "=a --text=b"],
    name: ["=a", "="],
    list: ["=a -l b -l=c", "=", ""],
    directory: ["=/a/", "=", "=unix:///a"],
    socket: ["=/s", "=s", "=", `=/${LONG}`],
    pair: ["=a", "=a --pair=bb", "=a --pair=ab"],
    wait: ["=0", "=1m30s", "=-1s", "=5", "="],
    limit: ["=1ms", "=0s", "=-1s", "=x"],
    count: ["=0", "=15", "=-1", "=1.5", `=${"9".repeat(15)}`, `=${"9".repeat(16)}`, "="],
    times: ["=1", "=0", "=x"],
    choice: ["=first", "=second", "=Second", "=frist", "=first,1.20", "=1.21", "=none", "="],
    choices: ["=first", "=1.20,Second --choices=first", "=1.20,frist", "=,"],
    "old-switch": ["", "=true", "=0", "=yes", "=", " x"],
    swap: ["", "=a", " a", " a --text=b"],
    output: ["=json", "=yaml", " json"],
    needs: ["=a", "=a --old-switch", "=a --old-switch=false"],
    against: ["", " --old-switch", "=false --old-switch", " --old-switch=false"],
  };
  const lines = [
    ...Object.entries(ofFlags).flatMap(([flag, rests]) => rests.map((rest) => `--${flag}${rest}`)),
    ...[
      "",
      "-o json",
      "-o=text",
      "-l -x",
      "-l --text",
      "-l --texd=a",
      "-l --texd b",
      "--texd=a",
      "--other",
      "--constructor x",
      "-l --constructor",
      "-h",
    ],
    ...["---", "--=a", "-", "--text a b", "--count=1 x", "--swap --text=a x", "--choices=first --swap x"],
  ].map((words) => `${words}\n  ${outcomeOf(FLAGS, words)}`);
  const ofRequired = ["", "--one=a", "--two=", "--one=a --two=b", "--one --two=b"].map(
    (words) => `required: ${words}\n  ${outcomeOf(REQUIRED, words)}`,
  );
  expect(
    ["", ...lines, ...ofRequired, ""].join("\n").replaceAll(`${process.cwd()}/`, "<cwd>/"),
  ).toMatchSnapshot();
});
