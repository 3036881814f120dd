import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeTerminationLog } from "../../src/cli/termination-log";
import { createTempFolder, type TempFolder } from "../support/temp-folder";

let folder: TempFolder;
beforeEach(async () => {
  folder = await createTempFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

const path = () => folder.at("termination-log");
const content = () => readFileSync(path(), "utf8");

test("writes the reason into the file that the container runtime made", () => {
  writeFileSync(path(), "");
  writeTerminationLog(path(), "kubelet refused the driver: no", { create: false });
  expect(content()).toBe("kubelet refused the driver: no\n");
});

test("replaces what was there, also by less", () => {
  writeFileSync(path(), "a former and much longer reason");
  writeTerminationLog(path(), "no", { create: false });
  expect(content()).toBe("no\n");
});

test("writes no more than kubelet reads", () => {
  writeFileSync(path(), "");
  writeTerminationLog(path(), "r".repeat(10_000), { create: false });
  expect(content()).toBe("r".repeat(4096));
});

test.each([
  [false, false],
  [true, true],
])("a file that is missing: with create %s, afterwards there %s", (create, there) => {
  writeTerminationLog(path(), "no", { create });
  expect(existsSync(path())).toBe(there);
});

test.each(["no/such/folder", "folder", ""])("does not mind that %j cannot be written", (name) => {
  mkdirSync(folder.at("folder"));
  writeTerminationLog(name && folder.at(name), "no", { create: true });
});
