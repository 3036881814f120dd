import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { transformSync } from "esbuild";
import { startCsiDriver } from "../../src/simulator/driver/csi-driver";
import { startKubelet } from "../../src/simulator/kubelet/kubelet";
import { createTempFolder } from "../support/temp-folder";
import { type Consumer, createConsumer } from "./support/consumer";
import { ROOT } from "./support/packed-package";
import type { RunOptions } from "./support/run";

/** The driver that the examples speak of, and the folder of the node on which they run. */
const DRIVER = "disk.example.com";
const KUBELET_ROOT = "/var/lib/kubelet";

let consumer: Consumer;
beforeAll(async () => {
  consumer = await createConsumer();
});
afterAll(() => consumer[Symbol.asyncDispose]());

const textOf = (file: string) => readFileSync(join(ROOT, file), "utf8");

/** A page's examples: each a whole program. */
const examplesIn = (page: string) =>
  Array.from(textOf(page).matchAll(/^```ts\n(.*?)^```$/gms), ([, text = ""], index) => ({
    name: `example ${index + 1} of ${page}`,
    file: `${page.replaceAll("/", "-")}-${index + 1}`,
    text,
  }));

type Example = ReturnType<typeof examplesIn>[number];

const examples = [...examplesIn("README.md"), ...examplesIn("docs/library.md")];
const isTest = ({ text }: Example) => text.includes('from "node:test"');
const aboutTheLibrary = examples.filter((example) => !isTest(example));
const aboutTests = examples.filter(isTest);

/** Runs an example as it stands, except for syntax that this Node cannot parse. */
async function runExample({ file, text }: Example, options?: Omit<RunOptions, "cwd">) {
  const { code } = transformSync(text, { loader: "ts", format: "esm", target: "node20.19" });
  await consumer.write(`${file}.mjs`, code);
  return consumer.node([`${file}.mjs`], options);
}

test.each(aboutTheLibrary)("$name registers its driver, and deregisters it in the end", async (example) => {
  await using folder = await createTempFolder();
  const csiAddress = folder.at("plugins", DRIVER, "csi.sock");
  await mkdir(dirname(csiAddress), { recursive: true });
  await using kubelet = await startKubelet({
    pluginRegistrationPath: folder.at("plugins_registry"),
    reconcilePeriodMs: 20,
    waitTimeoutMs: 100_000, // Machines are slow, and a process has to start.
  });
  await using _driver = await startCsiDriver({ csiAddress, name: DRIVER });
  const text = example.text.replaceAll(KUBELET_ROOT, folder.path);
  const registered = kubelet.registered(DRIVER);

  const finished = await runExample(
    { ...example, text },
    {
      meanwhile: (kill) => {
        if (text.includes("SIGTERM")) void registered.then(() => kill("SIGTERM"));
      },
    },
  );

  expect(finished).toMatchObject({ code: 0, stderr: "" });
  await registered;
  await kubelet.deregistered(DRIVER);
});

test.each(aboutTests)("$name passes", async (example) => {
  const { code, stdout, stderr } = await runExample(example);
  const tests = example.text.match(/^test\(/gm)?.length;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(new RegExp(`^\\S+ pass ${tests}$`, "m"));
});

test.each(aboutTests)("$name ends when its tests fail", async (example) => {
  const text = example.text.replaceAll(
    /^ {2}.*await kubelet\.(?:registered|refused)\(.*$/gm,
    'throw new Error("the driver is broken");',
  );
  const { code, stdout } = await runExample({ ...example, file: `${example.file}-fails`, text });
  const tests = example.text.match(/^test\(/gm)?.length;
  expect(code).toBe(1);
  expect(stdout).toMatch(new RegExp(`^\\S+ fail ${tests}$`, "m"));
});

test("the examples have the right types", async () => {
  for (const { file, text } of examples) await consumer.write(`${file}.mts`, text);
  const files = examples.map(({ file }) => `${file}.mts`);
  expect(await consumer.checkTypes(files, ["--module", "node16"])).toEqual({
    code: 0,
    stdout: "",
    stderr: "",
  });
});

test("the library's page explains each code of an error, and no other", () => {
  const codes = Array.from(
    textOf("src/base/errors.ts").matchAll(/^ {2}\| "([A-Z_]+)"/gm),
    ([, code]) => code,
  );
  const explained = Array.from(textOf("docs/library.md").matchAll(/^\| `([A-Z_]+)`/gm), ([, code]) => code);
  expect(codes.length).toBeGreaterThan(0);
  expect(explained.sort()).toEqual(codes.sort());
});
