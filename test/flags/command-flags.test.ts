import { readCommandFlags } from "../../src/flags/command-flags";
import { listFlag, switchFlag, textFlag } from "../../src/flags/kinds";
import { ACCEPTED_FLAGS } from "../../src/flags/table";

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
  [["--cluster=f"], { cluster: false }],
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
  ["--enable-pprof true", "it takes flags only, no other words; see registrar doctor --help"],
])("arguments that stop the registrar are a problem: %s", (words, problem) => {
  expect(() => read(...words.split(" "))).toThrow(problem);
});
