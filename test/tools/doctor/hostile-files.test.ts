import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { readFiles } from "../../../src/tools/doctor/files/read/documents";
import { itemsOf } from "../../../src/tools/doctor/findings/opened";
import { eachTest } from "../../support/each-test";
import { registrarCommand } from "../../support/registrar-command";
import { runCommand } from "../../support/run-command";
import { createTempFolder } from "../../support/temp-folder";
import { type Changes, daemonSet } from "./files/one-daemon-set";

const folder = eachTest(createTempFolder);

const GOOD = JSON.stringify(daemonSet({ name: "good" }));
const BOMB = Array.from({ length: 30 }, (_, n) => ({
  name: `A${n + 1}`,
  value: n === 0 ? "0123456789" : `$(A${n})$(A${n})`,
}));
const MANY_VALUES = /it has more than 1,000,000 values, or holds itself$/;
const keys = (count: number) => Array.from({ length: count }, (_, n) => `k${n}: v`).join("\n");

/** A DaemonSet whose pod has so many values. */
function setOf(values: number): string {
  let few = 0;
  JSON.parse(JSON.stringify(daemonSet().spec.template.spec), () => ++few);
  return JSON.stringify(daemonSet({ name: "big", more: Array(values - few).fill("x") }));
}

/** What is said of a text, with a DaemonSet behind it that is well. */
async function judge(text: string) {
  writeFileSync(folder.at("a.yaml"), `${text}\n---\n${GOOD}\n`);
  const { status, stdout, stderr } = await runCommand("doctor", "-o", "json", "-f", folder.at("a.yaml"));
  const { findings }: { findings: Record<string, string>[] } = JSON.parse(stdout);
  const said = (wanted: string) =>
    findings
      .filter(({ code }) => code === wanted)
      .map(
        ({ subject = "", text, fix }) =>
          [subject.replace(/.*a\.yaml/, "a.yaml"), `${text} -> ${fix}`] as const,
      );
  const unread = said("CSI113").map((words) =>
    words.join(" ").replace(" -> correct it, or leave it out", ""),
  );
  return { status, stderr, unread, judged: said("CSI101").map(([subject]) => subject) };
}

test("a key that is there twice is named, with its line; the last one counts", async () => {
  const twice = JSON.stringify(daemonSet(), null, 1).replace('"args"', '"args": [],\n"args"');
  const line = twice.split("\n").findLastIndex((one) => one.includes('"args"')) + 2;
  // Of an object without a registrar it is not the doctor's business.
  writeFileSync(
    folder.at("a.yaml"),
    `---\n${twice}\n---\nkind: ConfigMap\ndata:\n  registrar: b\n  registrar: c\n`,
  );
  const { status, stdout } = await runCommand("doctor", "-f", folder.at("a.yaml"));
  expect(stdout).toMatch(`    has a key twice in one map, line ${line}: the last one counts\n`);
  expect(stdout.match(/has a key twice/g)).toHaveLength(1);
  expect(status).toBe(0);
});

test.each<readonly [what: string, text: string, said: RegExp]>([
  [
    "a long variable, forty times",
    JSON.stringify(
      daemonSet({
        ...{ name: "bomb", env: [{ name: "LONG", value: "x".repeat(2 ** 16) }] },
        more: Array(40).fill("--x=$(LONG)"),
      }),
    ),
    /^a\.yaml: DaemonSet ns\/bomb cannot be judged: its variables, filled in, are longer than a program's/,
  ],
  [
    "variables that double, thirty times",
    JSON.stringify(daemonSet({ name: "bomb", more: ["$(A30)"], env: BOMB })),
    /^a\.yaml: DaemonSet ns\/bomb cannot be judged: its variables, filled in, are longer than a program's/,
  ],
  [
    "a List that holds itself",
    "kind: List\nitems: &all\n- kind: List\n  items: *all",
    /^a\.yaml cannot be judged: it has more than 1,000,000 values, or holds itself$/,
  ],
  [
    "Lists in Lists",
    `${'{"kind":"List","items":['.repeat(20_000)}1${"]}".repeat(20_000)}`,
    /nested too deeply$/,
  ],
  ["endless depth", "[".repeat(100_000), /^a\.yaml, document 1 cannot be judged: nesting exceeded maxDepth/],
  [
    "an alias of 10,000 characters",
    `a: *${"x".repeat(10_000)}`,
    /: unidentified alias "x+ \[cut, \d+ characters in all\], line 1$/,
  ],
  [
    "30,000 keys and no registrar",
    keys(30_000).concat("\nk7: again\n  x: y"),
    /: bad indentation of a mapping entry, line 30002$/,
  ],
  [
    "more than an API server takes",
    keys(600_000),
    /it has more than 4 MiB in one YAML document -> give it as JSON, as kubectl get -o json writes it$/,
  ],
  [
    "aliases of aliases",
    Array.from({ length: 9 }, (_, n) => `a${n}: &a${n} [${`*a${n - 1},`.repeat(n && 9)}1]`).join("\n"),
    MANY_VALUES,
  ],
  ["a directive", "%YAML 1.1", /document 1 cannot be judged: it begins with a directive/],
  [
    "words behind ---",
    "a: b\n--- {kind: Pod}",
    /document 2 cannot be judged: it has words behind its ---, line 2 -> begin/,
  ],
  ["words behind ...", "a: b\n...\nkind: Pod", /document 1 cannot be judged: expected a single document/],
  ["a list", "- kind: Pod", /document 1 cannot be judged: it is a list, and not an object$/],
  ["a word", "kind", /document 1 cannot be judged: it is a word, and not an object$/],
  [
    "a pod of 10,001 values",
    setOf(10_001),
    /^a\.yaml: DaemonSet ns\/big cannot be judged: it has more than 10,000 values/,
  ],
  [
    "an argument that no program can have",
    JSON.stringify(daemonSet({ name: "long", more: ["x".repeat(2 ** 17 + 1)] })),
    /ns\/long cannot be judged: it has a text of 131073 characters$/,
  ],
  ["no YAML", "kind: [", /^a\.yaml, document 1 cannot be judged: .*, line 2$/],
  [
    "a template in three documents",
    "---\nkind: {{ .Kind }}\n---\n# {{ }}\n{{- if .Values.x }}\nkind: X\n{{- end }}\n---\n{{ x }}\ny: z",
    /^a\.yaml cannot be judged: it is a template: \{\{ \.Kind \}\}, line 2 -> render it first; for Helm: helm template/,
  ],
])("%s is reported with exit code 3, and the next one is judged", async (_what, text, said) => {
  const { status, stderr, unread, judged } = await judge(text);
  expect(unread).toEqual([expect.stringMatching(said)]);
  expect(judged).toEqual(["a.yaml: DaemonSet ns/good, container registrar"]);
  expect([status, stderr]).toEqual([3, ""]);
});

test("a pod of 10,000 values is judged", async () => {
  expect((await judge(setOf(10_000))).judged).toHaveLength(2);
});

test.each([
  ["UTF-16", Buffer.from(`\ufeff${GOOD}`, "utf16le")],
  ["Latin-1", Buffer.from("# \xe9", "latin1")],
  ["A byte 0", Buffer.from("# \0")],
])("%s is reported, and the next file is judged", async (_what, bytes) => {
  writeFileSync(folder.at("a.yaml"), bytes);
  writeFileSync(folder.at("b.yaml"), `\ufeff${GOOD}`);
  const { status, stdout } = await runCommand("doctor", "-f", folder.at("."));
  expect(stdout).toMatch(/^unknown CSI113 .*a\.yaml\n +cannot be judged: it is not text in UTF-8/m);
  expect([status, stdout]).toEqual([3, expect.stringMatching(/3 ok/)]);
});

test("the files of a folder are judged in the order of their names", async () => {
  const names = ["c.yaml", "a.json", "10.yml", "B.yaml", "b.yaml", "9.yaml"];
  for (const name of names) writeFileSync(folder.at(name), JSON.stringify(daemonSet({ name })));
  const { objects } = await readFiles([folder.path]);
  expect(itemsOf(objects).map(({ file }) => file)).toEqual(names.toSorted().map((name) => folder.at(name)));
});

test("a FIFO in a folder is named and not read", async () => {
  execFileSync("mkfifo", [folder.at("a.yaml")]);
  writeFileSync(folder.at("b.yaml"), GOOD);
  const { status, stdout } = await runCommand("doctor", "-f", folder.at("."));
  expect(stdout).toMatch(/^unknown CSI113 .*a\.yaml\n +cannot be judged: it is not a regular file/m);
  expect([status, stdout]).toEqual([3, expect.stringMatching(/3 ok/)]);
});

test("a problem outranks an unread file, and a missing file does not stop the others", async () => {
  writeFileSync(folder.at("bad.yaml"), JSON.stringify(daemonSet({ more: ["--no-such-flag"] })));
  const files = ["none.yaml", "bad.yaml"].map((name) => `-f=${folder.at(name)}`);
  const { status, stdout } = await runCommand("doctor", ...files);
  expect(stdout).toMatch(/^unknown CSI113 .*none\.yaml$/m);
  expect(stdout).toMatch(/^PROBLEM CSI101 /m);
  expect(status).toBe(1);
});

test.each(["", "# nothing\n---\n", "null"])("a file of %j beside a good one is unread", async (text) => {
  writeFileSync(folder.at("a.yaml"), text);
  writeFileSync(folder.at("b.yaml"), GOOD);
  const doctor = (...names: readonly string[]) =>
    runCommand("doctor", ...names.map((name) => `-f=${folder.at(name)}`));
  const { status, stdout } = await doctor("b.yaml", "a.yaml");
  expect(stdout).toMatch(/^unknown CSI113 .*a\.yaml\n +cannot be judged: it has no object$/m);
  expect(status).toBe(3);
  // In a folder, it is nothing to kubectl.
  expect(await doctor(".")).toMatchObject({ status: 0, stdout: expect.not.stringMatching(/CSI113/) });
});

test.each([undefined, 2])(
  "JSON objects one after another, with an indent of %j, are judged",
  async (indent) => {
    const objects = ["a", "b"].map((name) => JSON.stringify(daemonSet({ name }), null, indent));
    const file = folder.at("all.json");
    writeFileSync(file, objects.join("\n"));
    const { stdout } = await runCommand("doctor", "-o", "json", "-f", file);
    expect(JSON.parse(stdout).findings[0].subject).toBe(`${file}: DaemonSet ns/a, container registrar`);
    expect(stdout).toMatch(/: DaemonSet ns\/b, container registrar"/);
    expect(stdout).not.toMatch(/CSI113/);
  },
);

test.each([
  [["none.yaml"], /^registrar doctor: cannot read .*none\.yaml: ENOENT/],
  [
    ["driver.yaml"],
    /^registrar doctor: no registrar in these files: .* name its image with --image=IMAGE; .*--cluster/m,
  ],
  [["empty.yaml"], /^registrar doctor: cannot read .*empty\.yaml: it has no object; see what the program/],
  [["driver.yaml", "pod.yaml"], /^registrar doctor: no registrar in these files/],
  [["all"], /no \.yaml, \.yml or \.json file, and the directories below it are not read/],
  [["binary.yaml"], /cannot read .*binary\.yaml: it is a template: \{\{\\u001b\[31m\\u009b, line 2; /],
])("with nothing to judge in %j doctor exits with 3", async (names, said) => {
  writeFileSync(folder.at("empty.yaml"), "# nothing\n");
  writeFileSync(folder.at("driver.yaml"), "kind: CSIDriver\nmetadata: {name: x.csi}");
  writeFileSync(folder.at("pod.yaml"), "kind: Pod\nspec: {containers: [{image: x:v1}]}");
  writeFileSync(folder.at("binary.yaml"), "a: b\n{{\x1b[31m\x9b");
  mkdirSync(folder.at("all/node"), { recursive: true });
  writeFileSync(folder.at("all/node/a.yaml"), GOOD);
  const files = names.map((name) => `-f=${folder.at(name)}`);
  const { status, stdout, stderr } = await runCommand("doctor", ...files);
  expect([status, stdout]).toEqual([3, ""]);
  expect(stderr).toMatch(said);
});

const openQuotes = (count: number) => Array.from({ length: count }, (_, n) => `k${n}: "`).join("\n");
test.each<readonly [what: string, object: object]>([
  // An expression that searched it again from each letter took minutes.
  ["the longest argument that a program can have", daemonSet({ more: [`--${"x".repeat(2 ** 17 - 2)}`] })],
  // The API server leaves the kind out of a typed list's items.
  ["a DaemonSetList", { kind: "DaemonSetList", items: [{ ...daemonSet(), kind: undefined }] }],
])("%s is read", async (_what, object) => {
  const { unread, judged } = await judge(JSON.stringify(object));
  expect([unread, judged.length]).toEqual([[], 2]);
});

const inTemplate = (changes: Changes, ...parameters: readonly string[]) =>
  JSON.stringify({
    apiVersion: "template.openshift.io/v1",
    kind: "Template",
    objects: [daemonSet({ name: "of-template", ...changes }), { kind: "Service" }],
    parameters: parameters.map((name) => ({ name })),
  });
const place = (name: string) => `\${${name}}`;

test.each<readonly [what: string, text: string, said: readonly RegExp[]]>([
  ["a PodTemplate", JSON.stringify({ kind: "PodTemplate", ...daemonSet().spec }), []],
  ["a Template", inTemplate({ more: [`--http-endpoint=${place("OTHER")}`] }, "NAME"), []],
  ["a List of a Template", `{"kind":"List","items":[${inTemplate({})}]}`, []],
  ["a parameter", inTemplate({ image: place("NAME") }, "A", "NAME"), [/parameter \$\{NAME\} is not filled/]],
  ["one of no text", inTemplate({ more: [place("{N}")] }, "N"), [/parameter \$\{\{N\}\} is not filled/]],
])("%s beside a good object is not ignored", async (_what, text, said) => {
  const { unread, judged } = await judge(text);
  expect(unread).toEqual(said.map((one) => expect.stringMatching(one)));
  expect(judged).toHaveLength(2 - said.length);
});

const NONE = /no registrar in these files/;

// As a process: the bound is on what all of it takes.
test.each<readonly [what: string, text: string, said: RegExp]>([
  ["200,000 open quotes", openQuotes(200_000), NONE],
  ["900,000 items", `a: [${"a,".repeat(900_000)}]`, NONE],
  ["16 million lines", "\n".repeat(16_000_000), /it has no object/],
  [
    "4 million documents",
    "---\n".repeat(4_000_000),
    /cannot read .*a\.yaml: it has more than 100,000 documents/,
  ],
  [
    "50,000 broken documents",
    "a: [\n---\n".repeat(50_000),
    /document 1: unexpected end .* flow collection, line 2/,
  ],
])("%s take no more than 200 MB", async (_what, text, said) => {
  writeFileSync(folder.at("a.yaml"), text);
  const print = `process.on("exit", () => console.error(process.resourceUsage().maxRSS))`;
  writeFileSync(folder.at("print.cjs"), print);
  const [node, ...cli] = registrarCommand();
  const words = ["--require", folder.at("print.cjs"), ...cli, "doctor", "-f", folder.at("a.yaml")];
  const { stderr } = spawnSync(node, words, { encoding: "utf8" });
  expect(stderr).toMatch(said);
  expect(Number(stderr.split("\n").at(-2))).toBeLessThan(200 * 1024);
});
