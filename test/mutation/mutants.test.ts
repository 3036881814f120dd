import { readdirSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { isThere, ROOT, readText } from "../docs/markdown";
import { mutated } from "./mutant";
import { MUTANTS } from "./mutants";
import { PURE_GROUPS } from "./pure-files";

test.each(MUTANTS)("$file: $what", (mutant) => {
  const text = readText(mutant.file);
  const changed = mutated(text, mutant);
  expect(changed).not.toBe(text);
  // It compiles: what does not would be noticed by every test.
  expect(() => transformSync(changed, { loader: "ts" })).not.toThrow();
});

const TESTS = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" }).map((name) =>
  join("test", name),
);

test("each has tests that are there, and the pure files, too", () => {
  const named = [...new Set(MUTANTS.flatMap(({ tests }) => tests))];
  const hasTests = (beginning: string) =>
    TESTS.some((path) => path.startsWith(beginning) && path.endsWith(".test.ts"));
  expect(named.filter((beginning) => !hasTests(beginning))).toEqual([]);
  const pure = PURE_GROUPS.flatMap(({ files, tests, deeper = [] }) => [...files, ...tests, ...deeper]);
  expect(pure.filter((path) => !isThere(path.split("#", 1)[0] ?? ""))).toEqual([]);
});
