import { CLUSTER_CHECKS } from "../../src/doctor/cluster/report";
import { MANIFEST_CHECKS } from "../../src/doctor/manifest/judge/checks";
import { NODE_CHECKS } from "../../src/doctor/node/report";
import { fencesIn, readText } from "./markdown";

const page = readText("docs/doctor.md");
const ALL = [...NODE_CHECKS, ...MANIFEST_CHECKS, ...CLUSTER_CHECKS];

test.each([
  ["Of a node", NODE_CHECKS],
  ["Of files before they are applied", MANIFEST_CHECKS],
  ["Of a cluster", CLUSTER_CHECKS],
] as const)("docs/doctor.md has a section for each check, with a fix: %s", (title, checks) => {
  const [, chapter = ""] = page.split(`\n## ${title}\n`);
  const sections = chapter.split(/\n## /)[0]?.split("\n### ").slice(1) ?? [];
  expect(sections.map((section) => section.split("\n", 1)[0])).toEqual(
    checks.map(({ code, name }) => `${code} ${name}`),
  );
  for (const section of sections) expect(section).toMatch(/^.*\n\n\S.*\n\n\*\*Fix\.\*\* \S/s);
});

test("codes and names are there once: of a node they begin with CSI0, of a file with CSI1, of a cluster with CSI2", () => {
  for (const key of ["code", "name"] as const)
    expect(new Set(ALL.map((check) => check[key])).size).toBe(ALL.length);
  for (const [family, checks] of [NODE_CHECKS, MANIFEST_CHECKS, CLUSTER_CHECKS].entries())
    expect(checks.map(({ code }) => code)).toEqual(
      checks.map((_, index) => `CSI${String(100 * family + index + 1).padStart(3, "0")}`),
    );
});

test("what the doctor is shown to say has the codes and names of its checks", () => {
  const shown = fencesIn(page, "text")
    .flatMap((fence) => Array.from(fence.matchAll(/^(?:ok|unknown|WARNING|PROBLEM) +(CSI\d+) +([\w-]+) /gm)))
    .map(([, code, name]) => `${code} ${name}`);
  expect(shown.length).toBeGreaterThan(5);
  const checks = ALL.map(({ code, name }) => `${code} ${name}`);
  expect(checks).toEqual(expect.arrayContaining([...new Set(shown)]));
});
