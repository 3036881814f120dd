import type { Report } from "../../src/doctor/report";
import { reportOn } from "../../src/doctor/report";
import { renderTable } from "../../src/doctor/table";
import { healthyFacts } from "./healthy-facts";

const finding = (changes: Partial<Report["findings"][number]> = {}): Report["findings"][number] => ({
  check: "registration",
  status: "problem",
  subject: "x.csi",
  text: "has no registration socket in /registration",
  cure: "see whether its registrar runs, and whether its --plugin-registration-path leads here",
  ...changes,
});
const report = (...findings: Report["findings"]): Report => ({
  healthy: false,
  target: { csiAddress: null, kubeletRegistrationPath: null, pluginRegistrationPath: "/registration" },
  summary: { problem: 1, warning: 0, unknown: 0, ok: 1 },
  findings,
});
const well = finding({ status: "ok", check: "driver-name", text: "is a legal name", cure: null });

test("columns stand under each other, text and cure are wrapped within theirs", () => {
  expect(renderTable(report(well, finding()), { width: 60, colors: false }).split("\n")).toEqual([
    "ok       driver-name   x.csi is a legal name",
    "PROBLEM  registration  x.csi has no registration socket in",
    "                       /registration",
    "                       -> see whether its registrar runs,",
    "                          and whether its",
    "                          --plugin-registration-path leads",
    "                          here",
    "",
    "Not well: 1 problem, 0 warnings, 0 unknown, 1 ok.",
    "",
  ]);
});

test.each([60, 80, 100, 200])("at %d columns no line is longer", (width) => {
  const lines = renderTable(reportOn(healthyFacts()), { width, colors: false }).split("\n");
  const words = lines.flatMap((line) => line.trim().split(" "));
  const longestWord = Math.max(...words.map(({ length }) => length));
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(Math.max(width, 40 + longestWord));
});

test("colors, where wanted, change nothing else", () => {
  const plain = renderTable(report(well, finding()), { width: 80, colors: false });
  const colored = renderTable(report(well, finding()), { width: 80, colors: true });
  expect(plain).not.toContain("\u001b");
  expect(colored).toContain("\u001b[1;31mPROBLEM\u001b[0m");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  expect(colored.replace(/\u001b\[[\d;]*m/g, "")).toBe(plain);
});

test("what a driver says steers no terminal and starts no line", () => {
  const evil = finding({ subject: "x\u001b[2J\n.csi", text: 'is "quoted"' });
  const [line = ""] = renderTable(report(evil), { width: 200, colors: false }).split("\n");
  expect(line).toContain('x\\x1b[2J\\n.csi is "quoted"');
});

test("without problems it says so", () => {
  const { healthy, ...rest } = reportOn(healthyFacts());
  expect(healthy).toBe(true);
  expect(renderTable({ healthy, ...rest }, { width: 100, colors: false })).toMatch(
    /\nNo problem found: 0 problems, 0 warnings, \d+ unknown, \d+ ok\.\n$/,
  );
});
