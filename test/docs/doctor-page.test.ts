import { NODE_CHECKS } from "../../src/doctor/checks";
import { CLUSTER_CHECKS } from "../../src/doctor/cluster-checks";
import { MANIFEST_CHECKS } from "../../src/doctor/manifest-checks";
import { checkSections, GENERATED } from "./doctor-page";
import { readText } from "./markdown";

test("docs/doctor.md has every check, as its source tells it: npm run docs:doctor", () => {
  const [, generated] = readText("docs/doctor.md").split(GENERATED);
  expect(generated).toBe(checkSections());
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
