import { NODE_CHECKS } from "../../src/doctor/checks";
import { MANIFEST_CHECKS } from "../../src/doctor/manifest-checks";
import { checkSections, GENERATED } from "./doctor-page";
import { readText } from "./markdown";

test("docs/doctor.md has every check, as its source tells it: npm run docs:doctor", () => {
  const [, generated] = readText("docs/doctor.md").split(GENERATED);
  expect(generated).toBe(checkSections());
});

test("codes and names are there once, and a code of a node begins with CSI0, of a file with CSI1", () => {
  const all = [...NODE_CHECKS, ...MANIFEST_CHECKS];
  for (const key of ["code", "name"] as const)
    expect(new Set(all.map((check) => check[key])).size).toBe(all.length);
  expect(NODE_CHECKS.map(({ code }) => code)).toEqual(
    NODE_CHECKS.map((_, n) => `CSI${String(n + 1).padStart(3, "0")}`),
  );
  expect(MANIFEST_CHECKS.map(({ code }) => code)).toEqual(MANIFEST_CHECKS.map((_, n) => `CSI${101 + n}`));
});
