import { createHash } from "node:crypto";
import { version } from "../../package.json";
import { parseAll } from "../support/yaml";
import { filesBelow, readText } from "./markdown";

export interface Fence {
  readonly language: string;
  readonly content: string;
}

/** The port of the examples' HTTP endpoint, and this version: what a page may write anywhere. */
export const CHOSEN = [
  String(
    parseAll(readText("examples/daemonset.yaml")).at(-1)?.spec.template.spec.containers[0].ports[0]
      .containerPort,
  ),
  `v${version}`,
];
const withoutChosen = (leaf: string) => CHOSEN.reduce((text, chosen) => text.replaceAll(chosen, ""), leaf);
/** Names with digits in them, such as groups of the API. */
const NAMED = /^(?:apiVersion|rules\.apiGroups|images\.name|patches\.patch): /;

const EXAMPLES = filesBelow("examples", ".yaml").flatMap((path) => leavesOf(readText(path)));

/** Samples that another test compares with what the program prints: `…` stands for lines that are left out. */
const COMPARED: Readonly<Record<string, string>> = {
  "docs/doctor.md": "test/tools/doctor/",
};
/** Drawings, whose numbers are an order. */
const DRAWN = ["README.md"];
/** Logs and answers of recorded runs, by a checksum: record them anew instead of editing one. */
const RECORDED: Readonly<Record<string, string>> = {
  "docs/how-it-works.md": "2f1f6e27",
  "docs/node-wide.md": "b70b9b69",
  "docs/operations.md": "871d3324",
  "docs/troubleshooting.md": "2f50ee55",
};

/** A workflow, which is read as text; other YAML is that of the examples. */
export const isWorkflow = (yaml: string) => /^ *runs-on: /m.test(yaml);

/** What is wrong with the numbers in the fences of a page. Those of `ts` and `mjs` run in test/package/docs.test.ts. */
export function fenceProblems(page: string, fences: readonly Fence[]): readonly string[] {
  const contents = (...languages: readonly string[]) =>
    fences.filter(({ language }) => languages.includes(language)).map(({ content }) => content);
  const isSample = !(page in COMPARED) && !DRAWN.includes(page);
  const samples = isSample ? contents("text").filter((text) => /\d/.test(text)) : [];
  const recorded = [...contents("log"), ...samples];
  const sum = createHash("sha256").update(recorded.join("\n")).digest("hex").slice(0, 8);
  return [
    ...(recorded.length === 0 || RECORDED[page] === sum
      ? []
      : [`${page}: logs and answers are not as they were recorded: the checksum is ${sum}`]),
    ...contents("log").flatMap(unknownMessages),
    ...contents("yaml").flatMap((yaml) =>
      (isWorkflow(yaml) ? [] : leavesOf(yaml))
        .filter((leaf) => /\d/.test(withoutChosen(leaf)) && !NAMED.test(leaf) && !EXAMPLES.includes(leaf))
        .map((leaf) => `${page}: no example has "${leaf}"`),
    ),
  ];
}

/** The fields of YAML with a text or a number, each with the key above it. */
function leavesOf(yaml: string): readonly string[] {
  const leaves: string[] = [];
  const visit = (value: unknown, path: readonly string[]) => {
    if (Array.isArray(value)) for (const one of value) visit(one, path);
    else if (typeof value === "object" && value !== null)
      for (const [key, one] of Object.entries(value)) visit(one, [...path, key]);
    else leaves.push(`${path.slice(-2).join(".")}: ${value}`);
  };
  for (const document of parseAll(yaml)) visit(document, []);
  return leaves;
}

const SOURCES = filesBelow("src", ".ts");
/** Lines of this registrar whose file has no such message. */
const unknownMessages = (log: string) =>
  Array.from(log.matchAll(/ ([\w-]+\.ts):\d+\] "([^"]+)"/g))
    .filter(
      ([, file, message = ""]) =>
        !SOURCES.some((path) => path.endsWith(`/${file}`) && readText(path).includes(message)),
    )
    .map(([line]) => `no source file logs${line}`);
