// Loaded in each test file, and in each Node process that one starts: bounds loops, and writes which mutants were reached.
const { randomUUID } = require("node:crypto");
const { writeFileSync } = require("node:fs");
const { join } = require("node:path");

/** So often no test takes one place; a loop that never ends does, and Stryker's code then throws. */
const MOST_HITS = 1e8;
globalThis.__stryker__ = {
  activeMutant: process.env.__STRYKER_ACTIVE_MUTANT__,
  hitCount: 0,
  hitLimit: MOST_HITS,
};

function writeReached() {
  const { MUTATION_REACHED: folder, MUTATION_TEST: test } = process.env;
  const ids = Object.keys(globalThis.__stryker__.mutantCoverage?.static ?? {});
  if (folder === undefined || test === undefined || ids.length === 0) return;
  writeFileSync(join(folder, randomUUID()), JSON.stringify({ test, ids }));
}

if (typeof afterAll === "function") {
  // Inherited by the processes that this test file starts.
  process.env.MUTATION_TEST = expect.getState().testPath;
  afterAll(writeReached);
} else process.on("exit", writeReached);
