import * as fc from "fast-check";
import type { Cause } from "../../../../src/tools/doctor/findings/causes";
import { type Report, reportFindings } from "../../../../src/tools/doctor/findings/report";
import { renderColumns, renderReport } from "../../../../src/tools/doctor/findings/table";
import { counted, firstOf, together, tooLong } from "../../../../src/tools/doctor/findings/words";
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

test("colors, where wanted, change nothing else", () => {
  const [plain, colored = ""] = [false, true].map((colors) =>
    renderTable(report(well, finding()), { width: 80, colors }),
  );
  expect(colored).toContain("\u001b[1;31mPROBLEM\u001b[0m");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  expect(colored.replace(/\u001b\[[\d;]*m/g, "")).toBe(plain);
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

describe("a report of a swap, by subject", () => {
  const look = { width: 62, colors: false };
  const summary = { problem: 0, warning: 0, unknown: 1, skipped: 0, ok: 0 };
  const swapped = { swap: "example.com/registrar:v1", swapped: 2 };

  test("without findings it has the tables, what was swapped or the sum, and the next step", () => {
    const none = { ...report(), summary };
    const command = "kubectl -n storage describe pod with-a-name-as-long-as-a-line";
    expect(renderReport(none, look, { swapped, next: [{ fix: "To apply it", command }] })).toBe(
      `2 registrars swapped to example.com/registrar:v1: no new\nproblem.\nTo apply it:\n       ${command}\n`,
    );
    expect(renderReport(none, look, { swapped: { swap: "", swapped: null } })).toBe(
      "It is not known how many registrars are swapped: no new\nproblem.\n",
    );
    // Its colors take no room.
    const tables = { tables: [["NAME"], []] };
    for (const colors of [false, true])
      expect(renderReport(none, { ...look, colors }, tables)).toMatch(
        /^NAME\n\n\S*Not everything is known\S*: 1 unknown, 0 problems, 0 warnings\.\n$/,
      );
  });

  test("the worst subject stands last, each finding with its remarks, also one that follows", () => {
    const nodes = ["node-1", "node-2"];
    // A file's name steers no terminal.
    const subject = "\u001b[2J\nbad";
    const bad = finding({ subject, text: "is bad", fix: null, nodes });
    const fix = "look at what is there, and at what should be there";
    const command = "kubectl -n storage describe pod with-a-name-as-long-as-a-line";
    const warned = finding({ subject: "good", status: "warning", text: "is odd", fix, command });
    const worse = finding({ subject, status: "warning", text: "is odd", fix: null });
    const follows = { follows: "CSI015", followsIndex: 0, fix: null };
    const follower = finding({ code: "CSI016", subject, text: "waits", nodes, ...follows });
    const layout = { isBySubject: true, swapped };
    const text = renderReport(report(bad, worse, warned, follower, well), look, layout);
    expect(text.split("\n")).toEqual([
      "WARNING CSI015 good",
      "    is odd",
      "    -> look at what is there, and at what should be there:",
      "       kubectl -n storage describe pod with-a-name-as-long-as-a-line",
      "",
      "WARNING CSI015 \\x1b[2J\\nbad",
      "    is odd",
      "PROBLEM CSI015 \\x1b[2J\\nbad",
      "    is bad",
      "    on 2 nodes: node-1, node-2",
      "    causes CSI016: \\x1b[2J\\nbad waits; on 2 nodes: node-1,",
      "           node-2",
      "",
      "2 registrars swapped to example.com/registrar:v1. 1 problem, 0",
      "warnings, 0 unknown, 1 ok.",
      "",
    ]);
  });
});

test("rows stand under their headings; the last column is wrapped within the width", () => {
  const long = "one two three four five six seven eight nine";
  expect(renderColumns(["NAME", "WHY"], [["a", long], ["bbbbbb"]], 44)).toEqual([
    "NAME    WHY",
    "a       one two three four five six seven",
    "        eight nine",
    "bbbbbb",
  ]);
  expect(renderColumns(["NAME", "WHY"], [["a", long]])).toHaveLength(2);
  const rows = [
    ["node", "a", "12", "-"],
    ["node", "b", "1", long],
  ];
  expect(renderColumns(["NODE", "NAME", "N", "WHY"], rows, 12)).toEqual([
    "NODE",
    "    NAME  N",
    "        WHY",
    "node",
    "    a     12",
    "    b     1",
    "        one two three four five six",
    "        seven eight nine",
  ]);
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

test("words", () => {
  expect(tooLong(120)).toBe("has 120 bytes, but a unix socket path has at most 107");
  expect([0, 1, 5000].map((count) => counted(count, "node"))).toEqual(["0 nodes", "1 node", "5,000 nodes"]);
  expect(firstOf([..."abcde"])).toBe("a, b, c, d, e");
  expect(firstOf([..."abcdefgh"])).toBe("a, b, c, d, e and 3 more");
  expect(together([..."abcde"])).toBe("a, b, c, d and e");
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the shell
  for (const text of ["{{ x }}", "x}}", "$(NAME)", "${name}", "<name>", "$NAME"])
    expect([text, isTemplate(text)]).toEqual([text, true]);
  for (const text of ["/a/b", "$1", "a < b", "<"]) expect([text, isTemplate(text)]).toEqual([text, false]);
});

test("a problem follows from no warning, whose code would lead", () => {
  const cause: Cause = { kind: "nameless", inode: "1:2" };
  const found = (code: string, status: "warning" | "problem") => ({
    code,
    status,
    cause,
    check: "it",
    subject: "",
    text: "",
  });
  const { findings, summary } = reportFindings([found("CSI003", "warning"), found("CSI016", "problem")]);
  expect(findings.map(({ follows }) => follows)).toEqual(["CSI016", null]);
  expect(summary.problem).toBe(1);
});
