const { availableParallelism } = require("node:os");
const base = require("../../jest.config.js");

/** The suite with kubelet's real code: needs Go, builds for minutes the first time. @type {import("jest").Config} */
module.exports = {
  ...base,
  rootDir: "../..",
  testMatch: ["<rootDir>/test/kubelet/**/*.test.ts"],
  testPathIgnorePatterns: [],
  globalSetup: "<rootDir>/test/kubelet/support/global-setup.ts",
  testTimeout: 240_000,
  // They wait for kubelet's loop of a second most of the time: five of them use half of two processors. But kubelet also
  // gives GetInfo a second, and no more.
  maxWorkers: 1 + 2 * availableParallelism(),
  maxConcurrency: Number(process.env.MAX_CONCURRENCY ?? 8 * availableParallelism()),
};
