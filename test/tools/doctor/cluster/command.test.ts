import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eachTest } from "../../../support/each-test";
import { createTempFolder } from "../../../support/temp-folder";

// The command line in this process, with a kubectl that answers what a real API server did. What needs a process for each row is in
// test/tools/doctor/command-cluster.test.ts.

const RECORDED = join(__dirname, "recorded", "sick-cluster.json");
const folder = eachTest(createTempFolder);
const { env } = process;
let written: string[] = [];
const print = (text: string) => {
  written.push(text);
  return 0;
};
jest.doMock("../../../../src/runtime/print", () => ({ print, printError: print }));

beforeEach(() => {
  written = [];
  const script = `#!/bin/sh\nexec "${process.execPath}" "${join(__dirname, "fake-kubectl.cjs")}" "$@"\n`;
  writeFileSync(folder.at("kubectl"), script, { mode: 0o755 });
  process.env = { ...env, PATH: folder.path, ANSWERS: RECORDED, COLUMNS: "60" };
});
afterEach(() => {
  process.env = env;
});

async function doctor(...words: readonly string[]) {
  const { runDoctor } = await import("../../../../src/tools/doctor/command");
  const code = await runDoctor(["--cluster", ...words]);
  return { code, text: written.join("") };
}

test("the report of one driver, as JSON, names what was asked for, and so do its commands", async () => {
  const asked = ["--context=blue", "--kubeconfig=/k", "--driver=shares.csi.example.com"];
  const { code, text } = await doctor("-o", "json", ...asked);
  const { schema, target, nodes, healthy, summary, findings } = JSON.parse(text);
  const commands = findings.flatMap(({ command }: { command: string | null }) => command ?? []);
  expect(commands).toContainEqual(
    expect.stringMatching(/^kubectl --kubeconfig=\/k --context=blue .*describe/),
  );
  expect([code, schema, healthy]).toEqual([3, "registrar.doctor.cluster/1", false]);
  expect(target).toEqual({ context: "blue", node: null, driver: "shares.csi.example.com" });
  expect(new Set(nodes.map((one: { driver: string }) => one.driver))).toEqual(new Set([target.driver]));
  expect(summary).toMatchObject({ problem: 0, unknown: 1 });
});

test("the report for people is as wide as COLUMNS says, and ends with the sum", async () => {
  const { code, text } = await doctor();
  const words = text.split("\n").filter((line) => /^ {4}(?! )[^/]*$/.test(line));
  const widest = Math.max(...words.map(({ length }) => length));
  expect([code, widest <= 60, widest > 50]).toEqual([1, true, true]);
  expect(text).toMatch(/^\d+ problems, .*\.$/m);
  expect(text).not.toContain("\u001b");
});

test.each([true, false])("a terminal gets colors where it has them: %s", async (hasColors) => {
  Object.assign(process.stdout, { isTTY: true, hasColors: () => hasColors });
  const { text } = await doctor();
  for (const name of ["isTTY", "hasColors"]) Reflect.deleteProperty(process.stdout, name);
  expect(text.includes("\u001b[")).toBe(hasColors);
});

test("a swap prints the command without it for the same cluster, node and driver", async () => {
  const asked = ["--context=a b", "--kubeconfig=/k", "--node=node-1", "--driver=disk.csi.example.com"];
  const { text } = await doctor("--swap", ...asked);
  const again = "registrar doctor --cluster --context='a b' --kubeconfig=/k --node=node-1 --driver=disk.csi";
  expect(text).toContain(`${again}.example.com\n`);
});
