import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeTerminationLog } from "../../src/runtime/termination-log";
import { eachTest } from "../support/each-test";
import { createTempFolder } from "../support/temp-folder";

const folder = eachTest(createTempFolder);
const path = () => folder.at("termination-log");

test.each([
  ["the file that the container runtime made", "", "no", "no\n"],
  ["what was there, also by less", "a former and much longer reason", "no", "no\n"],
  ["no more than kubelet reads", "", "r".repeat(10_000), `${"r".repeat(4095)}\n`],
])("a reason replaces %s", (_what, before, reason, after) => {
  writeFileSync(path(), before);
  writeTerminationLog(path(), reason, { create: false });
  expect(readFileSync(path(), "utf8")).toBe(after);
});

test.each([false, true])("a file that is missing is made: %s", (create) => {
  writeTerminationLog(path(), "no", { create });
  expect(existsSync(path())).toBe(create);
});

test.each(["no/such/folder", "folder", ""])(
  "a termination log %j that cannot be written is ignored",
  (name) => {
    mkdirSync(folder.at("folder"));
    writeTerminationLog(name && folder.at(name), "no", { create: true });
  },
);
