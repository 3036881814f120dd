import { translateRegistrarWords } from "../../../../src/cli/commands/doctor/registrar-words";
import { flagTable } from "../../../../src/flags/table";
import { DEPLOYMENTS } from "../../../charts/deployments";

const OWN = { "csi-address": {}, timeout: {}, output: {} };
const translate = (...argv: readonly string[]) => translateRegistrarWords(argv, OWN);

test.each<[argv: readonly string[], words: readonly string[]]>([
  [[], []],
  [["--v=5", "--csi-address=/a"], ["--csi-address=/a"]],
  [
    ["-v", "5", "-csi-address", "/a", "--output", "json"],
    ["--csi-address=/a", "--output=json"],
  ],
  [["--csi-address=/a", "--csi-address=/b"], ["--csi-address=/b"]],
  [["--csi-address", "-x"], ["--csi-address=-x"]],
  [["--csi-address="], ["--csi-address="]],
  [["--enable-pprof", "--timeout=no"], ["--timeout=no"]],
  [
    ["--timeout=2s", "--enable-pprof", "true", "--v=5"],
    ["--timeout=2s", "--", "true", "--v=5"],
  ],
])("%j is read as the registrar reads it: %j", (argv, words) => {
  expect(translate(...argv)).toEqual(words);
});

test.each([
  ["--v=high", 'invalid value "high" for flag -v: strconv.ParseUint: parsing "high": invalid syntax'],
  ["--mode=helth-probe", 'invalid value "helth-probe" for flag -mode: did you mean health-probe?'],
  ["--csi-address", "flag needs an argument: -csi-address"],
  ["--csi-adress=/a", "there is no flag --csi-adress; did you mean --csi-address?"],
  ["--outputs=json", "there is no flag --outputs; did you mean --output?"],
  ["--frobnicate", "there is no flag --frobnicate; see registrar doctor --help"],
])("what the registrar would not start with is a problem: %s", (word, problem) => {
  expect(() => translate(word)).toThrow(new Error(problem));
});

const { dropIn, ours, deprecated, removed } = flagTable;

test.each(Object.entries({ ...dropIn, ...ours, ...deprecated, ...removed }))("--%s is taken", (name, row) => {
  expect(() => translate(row.boolean ? `--${name}` : `--${name}=${row.default}`)).not.toThrow();
});

test.each(DEPLOYMENTS.map(({ repository, driver, args }) => [repository, driver, args] as const))(
  "the arguments of %s for %s are taken",
  (_repository, _driver, args) => {
    for (const word of translate(...args.map((word) => word.replace(/\$\{LOG_LEVEL\}/, "2"))))
      expect(word).toMatch(/^--(csi-address|timeout)=/);
  },
);

test("a list keeps each of its values, and a switch takes no word", () => {
  const own = { file: { array: true }, cluster: { type: "boolean" }, node: {} } as const;
  const argv = ["-f", "a", "--cluster", "--node", "n", "-f=b", "--v=5"];
  const words = ["--cluster=true", "--node=n", "--file=a", "--file=b"];
  expect(translateRegistrarWords(argv, own)).toEqual(words);
});
