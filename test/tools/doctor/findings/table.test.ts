import type { Report } from "../../../../src/tools/doctor/findings/report";
import { renderColumns } from "../../../../src/tools/doctor/findings/table";
import { isTemplate } from "../../../../src/tools/doctor/findings/words";
import { renderTable } from "../../../../src/tools/doctor/node/report";

const finding = (changes: Partial<Report["findings"][number]> = {}): Report["findings"][number] => ({
  code: "CSI015",
  check: "registration",
  status: "problem",
  follows: null,
  followsIndex: null,
  subject: "x.csi",
  text: "has no registration socket in /registration",
  fix: "see whether its registrar runs",
  ...changes,
});
const report = (...findings: Report["findings"]): Report => ({
  schema: "registrar.doctor/1",
  healthy: false,
  drivers: [],
  target: { csiAddress: null, kubeletRegistrationPath: null, pluginRegistrationPath: "/registration" },
  summary: { problem: 1, warning: 0, unknown: 0, ok: 1 },
  findings,
});
const well = finding({ status: "ok", check: "driver-name", text: "is a legal name", fix: null });

test("colors, where wanted, change nothing else", () => {
  const [plain, colored = ""] = [false, true].map((colors) =>
    renderTable(report(well, finding()), { width: 80, colors }),
  );
  expect(colored).toContain("\u001b[1;31mPROBLEM\u001b[0m");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  expect(colored.replace(/\u001b\[[\d;]*m/g, "")).toBe(plain);
});

test("what a driver says steers no terminal and starts no line", () => {
  const evil = finding({ subject: "x\u001b[2J\n.csi", text: 'is "quoted"' });
  const [line = ""] = renderTable(report(evil), { width: 200, colors: false }).split("\n");
  expect(line).toContain('x\\x1b[2J\\n.csi is "quoted"');
});

test("what is unknown and asks for nothing is only counted, unless it is to be verbose", () => {
  const unseen = finding({ status: "unknown", code: "CSI012", fix: null });
  const toDo = finding({ status: "unknown", code: "CSI009" });
  const seen = { ...report(unseen, toDo), summary: { problem: 0, warning: 0, unknown: 2, ok: 1 } };
  const [few, all] = [false, true].map((isVerbose) =>
    renderTable(seen, { width: 200, colors: false, isVerbose }),
  );
  expect(few).toMatch(/^unknown {2}CSI009(?!.*CSI012).*2 unknown \(1 only with --verbose\), 1 ok\.\n/s);
  expect(all).toMatch(/^unknown {2}CSI012.*^unknown {2}CSI009(?!.*--verbose)/ms);
});

test("the drivers stand first", () => {
  const driver = {
    ...{ name: "x.csi", state: "refused", since: "2026-01-01T00:00:00.000Z", reason: "kubelet refused: no" },
    ...{ csiSocket: "/csi/csi.sock", registrationSocket: "/registration/x.csi-reg.sock" },
  };
  const seen = { ...report(finding()), drivers: [driver] };
  const lines = renderTable(seen, { width: 200, colors: false }).split("\n");
  expect(lines.slice(0, 2)).toEqual([
    "DRIVER  STATE    SINCE                     WHY, WHERE",
    "x.csi   refused  2026-01-01T00:00:00.000Z  kubelet refused: no; /csi/csi.sock",
  ]);
});

test("what follows stands below the one that it follows from, not below all with its code", () => {
  const other = finding({ subject: "y.csi" });
  const follower = finding({ ...other, code: "CSI016", follows: "CSI015", followsIndex: 1, fix: null });
  const text = renderTable(report(finding(), other, follower), { width: 200, colors: false });
  expect(text.match(/causes CSI016/g)).toHaveLength(1);
  expect(text.indexOf("causes CSI016")).toBeGreaterThan(text.indexOf("y.csi has no"));
});

test("rows stand under their headings; the last column is wrapped within the width, never below 30", () => {
  const long = "one two three four five six seven eight nine";
  expect(renderColumns(["NAME", "WHY"], [["a", long], ["bbbbbb"]], 44)).toEqual([
    "NAME    WHY",
    "a       one two three four five six seven",
    "        eight nine",
    "bbbbbb",
  ]);
  expect(renderColumns(["NAME", "WHY"], [["a", long]], 10)[1]).toBe("a     one two three four five six");
  expect(renderColumns(["NAME", "WHY"], [["a", long]])).toHaveLength(2);
});

test("placeholders", () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the shell
  for (const text of ["{{ x }}", "x}}", "$(NAME)", "${name}", "<name>", "$NAME"])
    expect([text, isTemplate(text)]).toEqual([text, true]);
  for (const text of ["/a/b", "$1", "a < b", "<"]) expect([text, isTemplate(text)]).toEqual([text, false]);
});
