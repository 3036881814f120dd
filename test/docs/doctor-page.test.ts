import { CLUSTER_CHECKS } from "../../src/tools/doctor/cluster/report";
import { MANIFEST_CHECKS } from "../../src/tools/doctor/manifest/judge/checks";
import { NODE_CHECKS } from "../../src/tools/doctor/node/report";
import { fencesIn, readText } from "./markdown";

const page = readText("docs/doctor-codes.md");
const ALL = [...NODE_CHECKS, ...MANIFEST_CHECKS, ...CLUSTER_CHECKS];

test.each([
  ["Of a node", "CSI0", NODE_CHECKS],
  ["Of files before they are applied", "CSI1", MANIFEST_CHECKS],
  ["Of a cluster", "CSI2", CLUSTER_CHECKS],
] as const)(
  "docs/doctor-codes.md has a section for each check, with a fix, by code: %s",
  (title, family, checks) => {
    const [, chapter = ""] = page.split(`\n## ${title}\n`);
    const sections = chapter.split(/\n## /)[0]?.split("\n### ").slice(1) ?? [];
    expect(sections.map((section) => section.split("\n", 1)[0])).toEqual(
      checks.map(({ code, name }) => `${code} ${name}`).sort(),
    );
    for (const section of sections) expect(section).toMatch(/^.*\n\n\S.*\n\n\*\*Fix\.\*\* \S/s);
    for (const { code } of checks) expect(code).toMatch(new RegExp(`^${family}\\d\\d$`));
  },
);

test("codes and names are there once", () => {
  for (const key of ["code", "name"] as const)
    expect(new Set(ALL.map((check) => check[key])).size).toBe(ALL.length);
});

test("what the doctor is shown to say has the codes and names of its checks", () => {
  const shown = fencesIn(readText("docs/doctor.md"), "text")
    .flatMap((fence) => Array.from(fence.matchAll(/^(?:ok|unknown|WARNING|PROBLEM) +(CSI\d+) +([\w-]+) /gm)))
    .map(([, code, name]) => `${code} ${name}`);
  expect(shown.length).toBeGreaterThan(3);
  const checks = ALL.map(({ code, name }) => `${code} ${name}`);
  expect(checks).toEqual(expect.arrayContaining([...new Set(shown)]));
});
