const { availableParallelism } = require("node:os");
const slow = require("./test/process/slow-tests.js");

/** The suite of `npm test`; those that take longer or need more than Node have theirs in test/SUITE/. @type {import("jest").Config} */
module.exports = {
  rootDir: __dirname,
  // Nothing else is crawled for tests and modules; what a test requires by its path is found all the same.
  roots: ["<rootDir>/src", "<rootDir>/test"],
  globalSetup: "<rootDir>/test/support/global-setup.ts",
  globalTeardown: "<rootDir>/test/support/global-teardown.ts",
  setupFiles: ["<rootDir>/test/support/own-processes.cjs"],
  testEnvironment: "node",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  testPathIgnorePatterns: [
    "<rootDir>/test/cluster/",
    "<rootDir>/test/drivers/",
    "<rootDir>/test/image/",
    "<rootDir>/test/kubelet/",
    "<rootDir>/test/api-server/",
    "<rootDir>/test/projects/",
    ...slow.map((path) => `<rootDir>/${path}`),
  ],
  // What a test replaces is back before the next one.
  restoreMocks: true,
  transform: { "\\.ts$": "<rootDir>/test/support/esbuild-transform.js" },
  // Never part of what is tested: longer than anything takes on a busy machine.
  testTimeout: 120_000,
  // Many wait for processes, sockets and pauses most of the time: with a worker for each processor they would wait in
  // turn. With two processors six workers take 65 s, four 78 s, and no more CPU.
  maxWorkers: availableParallelism() + 4,
};
