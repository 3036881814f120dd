import { join } from "node:path";
import { ROOT } from "../package/support/packed-package";
import { type JestReport, problemsOf } from "./suites";

const report = (...testResults: JestReport["testResults"]): JestReport => ({
  numPassedTests: 1,
  numFailedTests: 1,
  testResults,
});
const name = join(ROOT, "test", "one.test.ts");
const passed = { status: "passed", fullName: "it works", failureMessages: [] };

test.each([
  ["no problem where all passed", { name, status: "passed", message: "", assertionResults: [passed] }, []],
  [
    "each failed test by its file, its name and the first line",
    {
      name,
      status: "failed",
      message: "all of it",
      assertionResults: [
        passed,
        { status: "failed", fullName: "it is right", failureMessages: ["Error: it is wrong\n    at there"] },
      ],
    },
    ["test/one.test.ts: it is right: Error: it is wrong"],
  ],
  [
    "a file that could not be loaded",
    { name, status: "failed", message: "\nSyntaxError: so\nmore", assertionResults: [] },
    ["test/one.test.ts: SyntaxError: so"],
  ],
])("finds %s", (_what, file, problems) => {
  expect(problemsOf(report(file))).toEqual(problems);
});
