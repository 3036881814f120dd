import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { ROOT } from "../package/support/packed-package";
import { mutated } from "./mutant";
import { MUTANTS } from "./mutants";
import { PURE_GROUPS } from "./pure-files";

test.each(MUTANTS)("$file: $what", (mutant) => {
  const text = readFileSync(join(ROOT, mutant.file), "utf8");
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
  const isThere = (beginning: string) =>
    TESTS.some((path) => path.startsWith(beginning) && path.endsWith(".test.ts"));
  expect(named.filter((beginning) => !isThere(beginning))).toEqual([]);
  const pure = PURE_GROUPS.flatMap(({ files, tests, deeper = [] }) => [...files, ...tests, ...deeper]);
  expect(pure.filter((path) => !existsSync(join(ROOT, path.split("#", 1)[0] ?? "")))).toEqual([]);
});
