import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { ROOT } from "../package/support/packed-package";
import { MUTANTS } from "./mutants";
import { mutated } from "./mutated";

test.each(MUTANTS)("$file: $what", (mutant) => {
  const text = readFileSync(join(ROOT, mutant.file), "utf8");
  const changed = mutated(text, mutant);
  expect(changed).not.toBe(text);
  // It compiles: what does not would be noticed by every test.
  expect(() => transformSync(changed, { loader: "ts" })).not.toThrow();
});
