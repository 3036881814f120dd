// Loaded first in each Node process of a run, and by jest's environment: what Stryker's code in the sources asks and tells.
const { appendFileSync } = require("node:fs");

/** So often no test takes one place; a loop that never ends does, and Stryker's code then throws. */
const MOST_HITS = 1e8;
/** Runs the lines of many tests, so all of a file. */
const HOST = /command-host\.cjs$/;

/** Stryker's global. What a test reaches is written at once, because a process may be killed. */
exports.createStryker = function createStryker(path, name) {
  const { MUTATION_REACHED: file, __STRYKER_ACTIVE_MUTANT__: activeMutant } = process.env;
  const set = (_, id, value, receiver) => {
    // Its own from now on: what a loop comes to again costs next to nothing.
    Object.defineProperty(receiver, id, { value, writable: true, enumerable: true, configurable: true });
    try {
      appendFileSync(file, `${JSON.stringify([path, name, id])}\n`);
    } catch {
      // A process that its test confines.
    }
    return true;
  };
  const newCounts = () => Object.create(new Proxy({}, { set }));
  const counted = file && { static: newCounts(), perTest: {} };
  return {
    global: { activeMutant, hitCount: 0, hitLimit: MOST_HITS, mutantCoverage: counted },
    /** From now on this test of the file runs; "" is none. */
    startTest: (next) => {
      name = next;
      if (counted) counted.static = newCounts();
    },
  };
};

const { MUTATION_TEST } = process.env;
if (MUTATION_TEST !== undefined) {
  const [path, name] = JSON.parse(MUTATION_TEST);
  globalThis.__stryker__ = exports.createStryker(path, HOST.test(process.argv[1]) ? "" : name).global;
}
