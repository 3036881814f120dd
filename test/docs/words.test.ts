import { readdirSync } from "node:fs";
import { join } from "node:path";
import { COMMANDS } from "../../src/cli/commands";
import { METRICS } from "../../src/diagnostics/metric-table";
import { nodeReadinessMetrics } from "../../src/diagnostics/node-readiness";
import { flagTable } from "../../src/flags/table";
import type { LoopEvent, StateName } from "../../src/registrar/model/state";
import { leadsTo } from "../support/registration-states";
import { runCommand } from "../support/run-command";
import { codeIn, DOCUMENTS, fencesIn, ROOT, readText, SOURCE } from "./markdown";

/** Words in backticks that others say: kubelet, Kubernetes, Linux, the official registrar in times past. */
const WORDS_OF_OTHERS = [
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
  ...readdirSync(join(ROOT, "bench"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith("main.ts"))
    .flatMap((name) => readText(join("bench", name)).match(/--[a-z][a-z-]+/g) ?? []),
];

let flags: readonly string[];
beforeAll(async () => {
  const lines = [...COMMANDS.map(({ name }) => [name]), ["manifest", "--image-policy"]];
  const helps = await Promise.all(lines.map((line) => runCommand(...line, "--help")));
  flags = [
    ...Object.values(flagTable).flatMap((rows) => Object.keys(rows)),
    ...helps.flatMap(({ stdout }) =>
      Array.from(stdout.matchAll(/--([a-z][\w-]+)/g), ([, flag = ""]) => flag),
    ),
  ];
});
const FILES = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });

const everywhere = (find: (text: string) => readonly string[]) =>
  DOCUMENTS.flatMap((path) => [...new Set(find(readText(path)))].map((what) => ({ path, what })));

const MESSAGES = everywhere((text) =>
  codeIn(text).filter(
    (code) => /^[A-Z][A-Za-z]+(?: [\w,.:'`-]+)+$/.test(code) && !WORDS_OF_OTHERS.includes(code),
  ),
);
test.each(MESSAGES)("$path: we say $what", ({ what }) => {
  expect(SOURCE).toContain(what);
});

const FLAGS_SHOWN = everywhere((text) =>
  codeIn(text)
    .map((code) => code.split(" ", 1)[0] ?? "")
    .filter((word) => /^--\w/.test(word) && !FLAGS_OF_OTHERS.includes(word)),
);
test.each(FLAGS_SHOWN)("$path: there is $what", ({ what }) => {
  expect(flags).toContain(what.slice(2).split("=")[0]);
});

test.each(everywhere((text) => text.match(/\bregistrar_[a-z_]+\b/g) ?? []))(
  "$path: there is a metric $what",
  ({ what }) => {
    expect([...METRICS, ...nodeReadinessMetrics(undefined as never)].map(({ name }) => name)).toContain(what);
  },
);

const RAISED_FILES = everywhere((text) =>
  codeIn(text).flatMap((code) =>
    Array.from(code.matchAll(/(?:--vmodule=|,)([\w-]+)=\d/g), ([, file = ""]) => file),
  ),
);
test.each(RAISED_FILES)("$path: a file logs as $what", ({ what }) => {
  expect(SOURCE).toContain(`named("${what}")`);
});

const LINES = everywhere((text) => fencesIn(text, "log").flatMap((fence) => fence.trimEnd().split("\n")));
test.each(LINES)("$path: $what", ({ what }) => {
  const [, file = "", extension, text = ""] =
    /^[IWE]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ ([\w-]+)\.(ts|go):\d+\] (.*)$/.exec(what) ?? [];
  expect(["ts", "go"]).toContain(extension);
  if (extension === "go") return; // Kubelet's own words.
  expect(FILES.some((one) => one.endsWith(`/${file}.ts`))).toBe(true);
  const [, message] = /^"([^"]+)"/.exec(text) ?? [];
  expect(SOURCE).toContain(`"${message}"`);
  if (message !== "Registration state changed") return;
  const { from, to, reason } = Object.fromEntries(
    Array.from(text.matchAll(/ (\w+)="([^"]*)"/g), ([, key = "", value]) => [key, value]),
  );
  expect(leadsTo(from as StateName, reason as LoopEvent["kind"])).toBe(to);
});
