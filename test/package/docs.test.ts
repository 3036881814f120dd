import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { transformSync } from "esbuild";
import { startCsiDriver } from "../../src/simulator/driver/csi-driver";
import { startKubelet } from "../../src/simulator/kubelet/kubelet";
import { readText } from "../docs/markdown";
import { type RunOptions, succeeded } from "../support/child-process";
import { allTests } from "../support/each-test";
import { createTempFolder } from "../support/temp-folder";
import { createConsumer } from "./support/consumer";

const DRIVER = "disk.example.com";
/** The driver that an example registers. */
const driverOf = (text: string) => /"(gpu\.example\.com)"/.exec(text)?.[1] ?? DRIVER;

const consumer = allTests(createConsumer);

/** What the page has a driver's author do once: the contract's types. */
beforeAll(async () => {
  const [, options = ""] = /^npx proto-loader-gen-types (.*)$/m.exec(readText("docs/library.md")) ?? [];
  await consumer.write("csi.proto", readText("proto/csi.proto"));
  const program = "node_modules/@grpc/proto-loader/build/bin/proto-loader-gen-types.js";
  succeeded(await consumer.node([program, ...options.split(" ")]));
});

const examplesIn = (page: string) =>
  Array.from(
    readText(page).matchAll(/^```([cm]?[jt]sx?|typescript|javascript)\n(.*?)^```$/gms),
    ([, language, text = ""], index) => ({
      name: `example ${index + 1} of ${page}`,
      file: `${page.replaceAll("/", "-")}-${index + 1}`,
      text,
      language,
    }),
  );

type Example = ReturnType<typeof examplesIn>[number];

const examples = [...examplesIn("docs/library.md"), ...examplesIn("docs/testing.md")];
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
  const text = example.text.replaceAll("/var/lib/kubelet", folder.path);
  const name = driverOf(text);
  const registered = kubelet.registered(name);

  const meanwhile: RunOptions["meanwhile"] = ({ signal }) => {
    if (text.includes("SIGTERM")) void registered.then(() => signal("SIGTERM"));
  };
  const finished = await runExample({ ...example, text }, { meanwhile });

  expect(finished).toMatchObject({ code: 0, stderr: "" });
  await registered;
  await kubelet.deregistered(name);
});

test.each(aboutTests)("$name passes, and ends when its tests fail", async (example) => {
  const tests = example.text.match(/^test\(/gm)?.length;
  const stdout = (outcome: string) => expect.stringMatching(new RegExp(`^\\S+ ${outcome} ${tests}$`, "m"));
  // It has no logger, and a test of a refusal.
  const stderr = expect.stringMatching(
    /^\(node:\d+\) RegistrarWarning: Kubelet refused the driver; [^\n]+\n\(Use[^\n]+\n$/,
  );
  expect(await runExample(example)).toEqual({ code: 0, stdout: stdout("pass"), stderr });
  const text = example.text.replaceAll(
    /^ {2}.*await kubelet\.(?:registered|refused)\(.*$/gm,
    'throw new Error("the driver is broken");',
  );
  const failed = await runExample({ ...example, file: `${example.file}-fails`, text });
  expect(failed).toMatchObject({ code: 1, stdout: stdout("fail") });
});

test("the examples have the right types", async () => {
  const typed = examples.filter(({ language }) => language === "ts");
  for (const { file, text } of typed) await consumer.write(`${file}.mts`, text);
  const files = typed.map(({ file }) => `${file}.mts`);
  const checked = await consumer.checkTypes(files, ["--module", "node16", "--allowImportingTsExtensions"]);
  expect(checked).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("the library's page explains each code of an error, and no other", () => {
  const codesIn = (file: string, pattern: RegExp) =>
    Array.from(readText(file).matchAll(pattern), ([, code]) => code);
  const codes = codesIn("src/base/errors.ts", /^ {2}\| "([A-Z_]+)"/gm);
  const explained = codesIn("docs/library.md", /^\| `([A-Z_]+)`/gm);
  expect(codes.length).toBeGreaterThan(0);
  expect(explained.sort()).toEqual(codes.sort());
});
