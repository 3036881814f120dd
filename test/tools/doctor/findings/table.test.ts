import * as fc from "fast-check";
import type { Cause } from "../../../../src/tools/doctor/findings/causes";
import { type Report, reportFindings } from "../../../../src/tools/doctor/findings/report";
import { renderColumns } from "../../../../src/tools/doctor/findings/table";
import { renderTable } from "../../../../src/tools/doctor/node/report";
import { isTemplate } from "../../../../src/tools/recognise/rule";
import { propertyTest } from "../../../support/fuzz";

const finding = (changes: Partial<Report["findings"][number]> = {}): Report["findings"][number] => ({
  code: "CSI015",
  check: "registration",
  status: "problem",
  follows: null,
  followsIndex: null,
  subject: "x.csi",
  text: "has no registration socket in /registration",
  fix: "see whether its registrar runs",
  command: null,
  ...changes,
});
const report = (...findings: Report["findings"]): Report => ({
  schema: "registrar.doctor/1",
  healthy: false,
  drivers: [],
  target: { csiAddress: null, kubeletRegistrationPath: null, pluginRegistrationPath: "/registration" },
  summary: { problem: 1, warning: 0, unknown: 0, skipped: 0, ok: 1 },
  findings,
});
const well = finding({ status: "ok", check: "driver-name", text: "is a legal name", fix: null });

test.each([30, 80])("colors, where wanted, change nothing else: width %d", (width) => {
  const [plain, colored = ""] = [false, true].map((colors) =>
    renderTable(report(well, finding()), { width, colors }),
  );
  expect(colored).toContain("\u001b[1;31mPROBLEM\u001b[0m");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  expect(colored.replace(/\u001b\[[\d;]*m/g, "")).toBe(plain);
});

test("no line ends with a space, even where the subject does not fit beside the code", () => {
  const long = finding({ subject: `/${"x".repeat(90)}.yaml: DaemonSet ns/y` });
  expect(renderTable(report(long), { width: 80, colors: false })).not.toMatch(/ $/m);
});

test("a driver's text cannot write control characters or start a line", () => {
  const evil = finding({ subject: "x\u001b[2J\n.csi", text: 'is "quoted"' });
  const lines = renderTable(report(evil), { width: 200, colors: false }).split("\n");
  expect(lines.slice(0, 2)).toEqual(["PROBLEM CSI015 x\\x1b[2J\\n.csi", '    is "quoted"']);
});

test("what is ok is only counted, except with --verbose; what is unknown is always said, and counted first", () => {
  const unseen = finding({ status: "unknown", code: "CSI012", fix: null });
  const aside = finding({ status: "skipped", code: "CSI009" });
  const follower = { ...unseen, code: "CSI013", follows: "CSI012", followsIndex: 0 };
  const fine = finding({ status: "ok", nodes: ["node-1"] });
  const findings = [unseen, aside, follower, fine];
  const seen = { ...report(...findings), summary: { problem: 0, warning: 0, unknown: 1, skipped: 1, ok: 1 } };
  const [few, all] = [false, true].map((isVerbose) =>
    renderTable(seen, { width: 200, colors: false, isVerbose }),
  );
  expect(few).toMatch(
    /^skipped CSI009.*^unknown CSI012.*^Not everything is known: 1 unknown, 0 problems, 0 warnings, 1 skipped, 1 ok\.\n/ms,
  );
  expect(all).toMatch(/^ok (?!.*node-1).*^unknown CSI012/ms);
});

test("the drivers stand first", () => {
  const driver = {
    ...{ name: "x.csi", state: "refused", since: "2026-01-01T00:00:00.000Z", reason: "kubelet refused: no" },
    ...{ csiSocket: "/csi/csi.sock", registrationSocket: "/registration/x.csi-reg.sock" },
  };
  const other = { ...driver, name: "y.csi", since: null, reason: null };
  const seen = { ...report(finding()), drivers: [driver, other] };
  const lines = renderTable(seen, { width: 200, colors: false }).split("\n");
  expect(lines.slice(0, 3)).toEqual([
    "DRIVER  STATE    SINCE                     WHY, WHERE",
    "x.csi   refused  2026-01-01T00:00:00.000Z  kubelet refused: no; /csi/csi.sock",
    "y.csi   refused  -                         /csi/csi.sock",
  ]);
});

test("a consequence stands below its own cause, not below all with its code", () => {
  const other = finding({ subject: "y.csi" });
  const follower = finding({ ...other, code: "CSI016", follows: "CSI015", followsIndex: 1, fix: null });
  const text = renderTable(report(finding(), other, follower), { width: 200, colors: false });
  expect(text.match(/causes CSI016/g)).toHaveLength(1);
  expect(text.indexOf("causes CSI016")).toBeGreaterThan(text.indexOf("CSI015 y.csi"));
});

const word = fc.stringMatching(/^[a-z.]{1,40}$/);
const table = fc.record({
  rows: fc.array(
    fc.tuple(
      word,
      word,
      word,
      fc.array(word, { minLength: 1 }).map((all) => all.join(" ")),
    ),
  ),
  width: fc.integer({ min: 30, max: 200 }),
});

propertyTest(
  "a table has all words, and only one that is too long goes beyond the width",
  { runs: 300, given: table },
  ({ rows, width }) => {
    const lines = renderColumns(["A", "B", "C", "D"], rows, width);
    const wordsIn = (texts: readonly string[]) => texts.flatMap((one) => one.split(/ +/)).filter(Boolean);
    const long = lines.filter(({ length }) => length > Math.max(width, 3 * 4 + 30));
    expect(long.filter((line) => wordsIn([line]).length > 1)).toEqual([]);
    const shown = wordsIn(lines);
    expect(wordsIn(rows.flat()).filter((one) => !shown.includes(one))).toEqual([]);
  },
);

test("of findings with equal causes the one nearest to the cause leads, whatever their order and words", () => {
  const of = (code: string, cause?: Cause) => ({
    ...({ code, check: code, status: "problem", subject: code, text: "is bad", cause } as const),
  });
  const found = [
    of("CSI001", { kind: "down", inode: "1:2" }),
    of("CSI002", { inode: "1:2", kind: "down" }),
    of("CSI003", { kind: "down", inode: "1:3" }),
    of("CSI004"),
  ];
  const { findings, summary } = reportFindings(found);
  expect(findings.map(({ follows }) => follows)).toEqual(["CSI002", null, null, null]);
  expect(summary.problem).toBe(3);
  // Of equals the first.
  const equal = ["one", "two", "three"].map((subject) => ({ ...of("CSI002", found[1]?.cause), subject }));
  expect(reportFindings(equal).findings.map(({ followsIndex }) => followsIndex)).toEqual([null, 0, 0]);
});

test("placeholders", () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the shell
  for (const text of ["{{ x }}", "x}}", "$(NAME)", "${name}", "<name>", "$NAME", "@X@", "%NAME%", "__X__"])
    expect([text, isTemplate(text)]).toEqual([text, true]);
  for (const text of ["/a/b", "$1", "a < b", "<", "x@sha256:AB", "/a%C3%A9%20", "__init__", "a@B.c"])
    expect([text, isTemplate(text)]).toEqual([text, false]);
});

test("of many findings that say the same, and of many drivers, the first are shown, and how many more there are", () => {
  const findings = Array.from({ length: 600 }, (_, at) =>
    finding({ status: "skipped", subject: `/${at}.sock` }),
  );
  const drivers = findings.map(({ subject }) => ({
    ...{ name: subject, state: "dead", since: null, reason: null },
    ...{ csiSocket: null, registrationSocket: null },
  }));
  const text = renderTable({ ...report(...findings, finding()), drivers }, { width: 200, colors: false });
  expect(text.match(/^skipped/gm)).toHaveLength(10);
  expect(text.match(/ dead /g)).toHaveLength(20);
  expect(text).toMatch(/and 580 more: list all with -o json$.*and 590 more, .*-o json has all$.*^PROBLEM/ms);
});
