const { relative } = require("node:path");

const SHOWN = 10;

/** Jest reporter: tells at the end which files took longest, if there were more than a few. */
module.exports = function createReporter({ rootDir }) {
  return {
    onRunComplete: (_contexts, { testResults }) => {
      if (testResults.length <= SHOWN) return;
      const slowest = testResults
        .map(({ testFilePath, perfStats }) => ({
          file: relative(rootDir, testFilePath),
          ms: perfStats.runtime,
        }))
        .sort((a, b) => b.ms - a.ms)
        .slice(0, SHOWN)
        .map(({ file, ms }) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${file}`);
      process.stderr.write(`\nThe slowest files:\n${slowest.join("\n")}\n`);
    },
    getLastError: () => undefined,
  };
};
