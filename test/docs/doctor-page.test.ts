import { CLUSTER_CHECKS } from "../../src/doctor/cluster/checks";
import { MANIFEST_CHECKS } from "../../src/doctor/manifest/checks";
import { NODE_CHECKS } from "../../src/doctor/node/checks";
import { readText } from "./markdown";

test.each([
  ["Of a node", NODE_CHECKS],
  ["Of files before they are applied", MANIFEST_CHECKS],
  ["Of a cluster", CLUSTER_CHECKS],
] as const)("docs/doctor.md has a section for each check, with a fix: %s", (title, checks) => {
  const [, chapter = ""] = readText("docs/doctor.md").split(`\n## ${title}\n`);
  const sections = chapter.split(/\n## /)[0]?.split("\n### ").slice(1) ?? [];
  expect(sections.map((section) => section.split("\n", 1)[0])).toEqual(
    checks.map(({ code, name }) => `${code} ${name}`),
  );
  for (const section of sections) expect(section).toMatch(/^.*\n\n\S.*\n\n\*\*Fix\.\*\* \S/s);
});

test("codes and names are there once: of a node they begin with CSI0, of a file with CSI1, of a cluster with CSI2", () => {
  const all = [...NODE_CHECKS, ...MANIFEST_CHECKS, ...CLUSTER_CHECKS];
  for (const key of ["code", "name"] as const)
    expect(new Set(all.map((check) => check[key])).size).toBe(all.length);
  expect(NODE_CHECKS.map(({ code }) => code)).toEqual(
    NODE_CHECKS.map((_, n) => `CSI${String(n + 1).padStart(3, "0")}`),
  );
  expect(MANIFEST_CHECKS.map(({ code }) => code)).toEqual(MANIFEST_CHECKS.map((_, n) => `CSI${101 + n}`));
  expect(CLUSTER_CHECKS.map(({ code }) => code)).toEqual(CLUSTER_CHECKS.map((_, n) => `CSI${201 + n}`));
});
