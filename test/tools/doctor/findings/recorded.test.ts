import { sayWhyOfFile } from "../../../../src/tools/doctor/files/judge/gaps";
import { type Cause, causeKey, rankOf } from "../../../../src/tools/doctor/findings/causes";
import type { Finding, Status } from "../../../../src/tools/doctor/findings/finding";
import { named } from "../../../../src/tools/doctor/findings/opened";
import { exitCodeOf, reportFindings } from "../../../../src/tools/doctor/findings/report";
import type { Flaw, Why } from "../../../../src/tools/doctor/findings/seen";
import { renderColumns, renderReport } from "../../../../src/tools/doctor/findings/table";
import { sayWhy } from "../../../../src/tools/doctor/findings/why";
import {
  counted,
  firstOf,
  flagsOf,
  namedText,
  shellWord,
  together,
  tooLong,
} from "../../../../src/tools/doctor/findings/words";
import { byOutcome } from "../../../support/recorded";

// What all doctors share, recorded: `npx jest -u test/tools/doctor/findings/recorded` writes it anew.

const STATUSES: readonly Status[] = ["ok", "skipped", "unknown", "warning", "problem"];
const CAUSES: readonly Cause[] = [
  { kind: "down", inode: "1:2" },
  { kind: "nameless", inode: "1:2" },
  { kind: "missing", path: "/x" },
  { kind: "node-info", driver: "x" },
  { kind: "twins", driver: "x" },
  { kind: "endpoint", driver: "x" },
  { kind: "duplicates", endpoint: "/x" },
  ...(["kubelet-down", "host-path", "not-kubelets", "nodes-away"] as const).map((kind) => ({ kind })),
  { kind: "manifest", object: 1, container: "x" },
  { kind: "trouble", driver: named("x"), trouble: "y" },
];
const CODES = "2 3 4 6 7 10 12 15 16 18 20".split(" ").map((code) => `CSI${code.padStart(3, "0")}`);
const finding = (code: string, status: Status, cause?: Cause, more: Partial<Finding> = {}): Finding => ({
  ...{ code, check: "a-check", status, subject: `subject of ${code}`, text: "is so", cause, ...more },
});

test("which of two findings with one cause is the one to fix", () => {
  const ranks = CAUSES.map(
    (cause) =>
      [
        CODES.map((code) => rankOf(cause, code)).join(" "),
        JSON.stringify({ ...cause, ...("driver" in cause && { driver: "x" }) }),
      ] as const,
  );
  const byStatus = STATUSES.flatMap((one) =>
    STATUSES.map((other) => {
      const [cause] = CAUSES as [Cause];
      const { findings, summary, healthy } = reportFindings([
        finding("CSI002", one, cause),
        finding("CSI020", other, cause),
      ]);
      const counts = Object.values(summary).join(" ");
      return [
        `${one} ${other}`,
        `${findings.map(({ follows }) => follows ?? "-").join(" ")}: ${counts}, ${healthy}, ${exitCodeOf(summary)}`,
      ] as const;
    }),
  );
  expect(
    byOutcome(ranks.map(([outcome, input]) => [input, `${CODES.join(" ")}\n${outcome}`])),
  ).toMatchSnapshot();
  expect(byOutcome(byStatus)).toMatchSnapshot();
  const [down, nameless] = CAUSES as [Cause, Cause];
  expect(
    reportFindings([finding("CSI002", "problem", down), finding("CSI003", "problem", nameless)]).findings.map(
      ({ follows }) => follows,
    ),
  ).toEqual([null, null]);
  expect(causeKey({ driver: "x", kind: "twins" })).toBe(causeKey({ kind: "twins", driver: "x" }));
});

const FLAWS: readonly Flaw[] = [
  ...([
    "no-files",
    "pipe",
    "large",
    "encoding",
    "empty",
    "document-size",
    "dashes",
    "directive",
    "no-object",
  ] as const),
  ...([
    "template",
    "patch",
    "custom",
    "parameter",
    "placeholder",
    "values",
    "long",
    "deep",
    "variables",
  ] as const),
];
const call = { call: "GetInfo", code: "Internal", message: "its words" };
const unlike = { kind: "unlike", wanted: "list" } as const;
const WHYS: readonly Why[] = [
  ...FLAWS.map((flaw) => ({ kind: "flaw", flaw, at: "AT" }) as const),
  ...["ENOENT", "EACCES", "EIO"].map((errno) => ({ kind: "errno", errno }) as const),
  { kind: "mount", fileSystem: "fuse" },
  { kind: "cut", read: 500, there: 5_000 },
  ...(["moving", "aside", "starved"] as const).map((kind) => ({ kind })),
  { kind: "deep", from: "/x" },
  { kind: "call", ...call },
  { kind: "call", ...call, code: "DeadlineExceeded" },
  { kind: "call", ...call, late: { afterMs: 1_500, who: "kubelet", waitsMs: 120_000 } },
  { kind: "list", failure: "x", message: "its words" },
  { kind: "object", text: "x".repeat(600) },
  ...[undefined, "a"].map((field) => ({ ...unlike, has: "7", field })),
  { ...unlike, has: "{{ x }}", field: "a" },
  { kind: "fault", error: "TypeError: x" },
];

test("why something could not be read, and what to do", () => {
  const lines = WHYS.map((why) => [
    JSON.stringify(why).slice(0, 100),
    JSON.stringify(sayWhy(why)),
    JSON.stringify(sayWhyOfFile(why)),
  ]);
  expect(lines.map((line) => line.join("\n    ")).join("\n")).toMatchSnapshot();
});

test("words", () => {
  const names = "abcdefgh".split("");
  const words = [
    ...[0, 1, 2, 5_000].map((count) => `${counted(count, "node")}; ${counted(count, "ok", "ok")}`),
    ...[0, 1, 5, 6, 8].map((count) => firstOf(names.slice(0, count))),
    firstOf(Array.from({ length: 3_005 }, () => "x")),
    ...[0, 1, 2, 3, 4].map((count) => together(names.slice(0, count))),
    ...["a", "a b", "it's", "'a' 'b'", "a\nb'c", "$x", "é", "", "a=b,c:/d.e-f_g@h%i+j"].map(shellWord),
    ...flagsOf({ a: undefined, b: "c d", e: "" }),
    ...["", "x"].map(namedText),
    tooLong(120),
  ];
  expect(words.join("\n")).toMatchSnapshot();
});

const MANY = ["a", "b", "c", "d", "e", "f"];
const FINDINGS: readonly Finding[] = [
  ...STATUSES.map((status) =>
    finding("CSI001", status, undefined, { subject: status, fix: "do it", nodes: ["n1"] }),
  ),
  finding("CSI002", "problem", CAUSES[0], {
    fix: "write",
    command: "--x='a\nb'",
    nodes: MANY,
    text: "long ".repeat(30).trim(),
  }),
  finding("CSI016", "problem", CAUSES[0], { nodes: ["n2"] }),
  finding("CSI020", "warning", CAUSES[0]),
  finding("CSI018", "ok", undefined, { nodes: MANY, subject: "warning" }),
];

test.each([36, 100])("a report, %s columns wide", (width) => {
  const reports = [FINDINGS, FINDINGS.slice(0, 3), FINDINGS.slice(0, 1), FINDINGS.slice(3, 4), []].map(
    reportFindings,
  );
  const swap = "x/ours:v1";
  const layouts = [
    {},
    { isBySubject: true, tables: [["A TABLE"], []] },
    {
      swapped: { swap, swapped: 1 },
      next: ["a sentence that is long enough to be wrapped", { fix: "To do so", command: "run it" }],
    },
    { swapped: { swap: "", swapped: null } },
    { swapped: { swap, swapped: 2 }, isBySubject: true },
  ];
  const looks = [
    { width, colors: false },
    { width, colors: true, isVerbose: true },
  ];
  const all = looks.flatMap((look) =>
    layouts.flatMap((layout) => reports.map((report) => renderReport(report, look, layout))),
  );
  expect(all.join("---\n").replaceAll("\x1b", "ESC")).toMatchSnapshot();
});

test("columns", () => {
  const rows = [
    ["x.csi", "registered", "2026", "-"],
    ["x.csi", "registered", "2027", "a reason that is long enough to be wrapped in a narrow terminal"],
    ["longer.csi.example.com", "unknown", "-", `one-${"long".repeat(12)}-word`],
  ];
  const texts = [5, 30, 50, 60, 80, 120, undefined].map((width) =>
    [`${width}:`, ...renderColumns(["DRIVER", "STATE", "SINCE", "WHY"], rows, width)].join("\n"),
  );
  expect(texts.join("\n")).toMatchSnapshot();
});
