import { ask, type Rule } from "../../../src/tools/recognise/rule";

test("a placeholder below a not leaves another one open", () => {
  const at = (field: string) => ({ at: [field], matches: "^x$", absent: false });
  const rule: Rule = { all: [at("a"), { not: at("b") }] };
  const answers = ["x", "y", "{{ z }}"].flatMap((a) => ["x", "y", "{{ z }}"].map((b) => ask(rule, { a, b })));
  expect(answers).toEqual([false, true, "open", false, false, false, false, "open", "open"]);
});
