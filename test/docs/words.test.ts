import { COMMANDS } from "../../src/cli/commands";
import { METRICS } from "../../src/diagnostics/metric-table";
import { showNodeReadiness } from "../../src/diagnostics/node-readiness";
import { flagTable } from "../../src/flags/table";
import type { LoopEvent, StateName } from "../../src/registrar/model/state";
import { leadsTo } from "../support/registration-states";
import { runCommand } from "../support/run-command";
import { codeIn, DOCUMENTS, fencesIn, filesBelow, readText, SOURCE } from "./markdown";

/** Words in backticks that others say: kubelet, Kubernetes, Linux, the official registrar in times past. */
const WORDS_OF_OTHERS = [
  "CSINode NODE does not contain driver NAME",
  "Error connecting to CSI driver",
  "Failed to update CSIDriver",
  "Error closing socket",
  "Registration Server stopped serving",
  "Calling node registrar to check if it still responds",
];
/** Flags of other programs, the measurements among them, and those that stand for any flag. */
const FLAGS_OF_OTHERS = [
  ...["--ignore-scripts", "--permission", "--previous", "--root-dir", "--x", "--x=v", "--yes"],
  ...["--enable-csi-node-aware-scheduling", "--ginkgo.focus='Identity"],
  ...["--csi-endpoint", "--drivername", "--endpoint", "--metrics-address"],
  "--register-with-taints=disk.csi.example.com/agent-not-ready=:NoExecute",
  ...filesBelow("bench", "main.ts").flatMap((path) => readText(path).match(/--[a-z][a-z-]+/g) ?? []),
];

let flags: readonly string[];
beforeAll(async () => {
  const modes = [["--cluster"], ["-f", "x"]].map((mode) => ["doctor", ...mode]);
  const lines = [...COMMANDS.map(({ name }) => [name]), ["manifest", "--image-policy"], ...modes];
  const helps = await Promise.all(lines.map((line) => runCommand(...line, "--help")));
  flags = [
    ...Object.values(flagTable).flatMap((rows) => Object.keys(rows)),
    ...helps.flatMap(({ stdout }) =>
      Array.from(stdout.matchAll(/--([a-z][\w-]+)/g), ([, flag = ""]) => flag),
    ),
  ];
});
const FILES = filesBelow("src", ".ts");

const everywhere = (find: (text: string) => readonly string[]) =>
  DOCUMENTS.flatMap((path) => [...new Set(find(readText(path)))].map((what) => ({ path, what })));

/** Those that are false, each with its page; there must be some to look at. */
function falseOnes(
  find: (text: string) => readonly string[],
  isTrue: (what: string) => boolean,
): readonly { path: string; what: string }[] {
  const all = everywhere(find);
  expect(all.length).toBeGreaterThan(1);
  return all.filter(({ what }) => !isTrue(what));
}

test("every log message on a page is in the source", () => {
  const isMessage = (code: string) => /^[A-Z][A-Za-z]+(?: [\w,.:'`-]+)+$/.test(code);
  const ours = (text: string) =>
    codeIn(text).filter((code) => isMessage(code) && !WORDS_OF_OTHERS.includes(code));
  expect(falseOnes(ours, (what) => SOURCE.includes(what))).toEqual([]);
});

test("every flag on a page exists", () => {
  const shown = (text: string) =>
    codeIn(text)
      .map((code) => code.split(" ", 1)[0] ?? "")
      .filter((word) => /^--\w/.test(word) && !FLAGS_OF_OTHERS.includes(word));
  expect(falseOnes(shown, (what) => flags.includes(what.slice(2).split("=")[0] ?? ""))).toEqual([]);
});

test("every metric on a page exists", () => {
  const names = [
    ...METRICS.map(({ name }) => name),
    ...Object.keys(showNodeReadiness(undefined as never).metrics),
  ];
  expect(
    falseOnes(
      (text) => text.match(/\bregistrar_[a-z_]+\b/g) ?? [],
      (what) => names.includes(what),
    ),
  ).toEqual([]);
});

test("every file that --vmodule names logs under that name", () => {
  const raised = everywhere((text) =>
    codeIn(text).flatMap((code) =>
      Array.from(code.matchAll(/(?:--vmodule=|,)([\w-]+)=\d/g), ([, file = ""]) => file),
    ),
  );
  expect(raised.filter(({ what }) => !logsIn(what).some((text) => text.includes("log.")))).toEqual([]);
});

test("every log line on a page has a message and a change of state that exist", () => {
  const lines = (text: string) => fencesIn(text, "log").flatMap((fence) => fence.trimEnd().split("\n"));
  expect(falseOnes(lines, isLogLine)).toEqual([]);
});

/** The texts of the source files with this name. */
const logsIn = (name: string) => FILES.filter((one) => one.endsWith(`/${name}.ts`)).map(readText);

function isLogLine(line: string): boolean {
  const [, file = "", extension, text = ""] =
    /^[IWE]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ ([\w-]+)\.(ts|go):\d+\] (.*)$/.exec(line) ?? [];
  if (extension !== "ts") return extension === "go"; // Kubelet's own words.
  const [, message] = /^"([^"]+)"/.exec(text) ?? [];
  if (logsIn(file).length === 0 || !SOURCE.includes(`"${message}"`)) return false;
  if (message !== "Registration state changed") return true;
  const { from, to, reason } = Object.fromEntries(
    Array.from(text.matchAll(/ (\w+)="([^"]*)"/g), ([, key = "", value]) => [key, value]),
  );
  return leadsTo(from as StateName, reason as LoopEvent["kind"]) === to;
}
