const base = require("./jest.config.js");

/** The suite in a real cluster, which `npm run test:cluster` makes first. @type {import("jest").Config} */
module.exports = {
  ...base,
  testMatch: ["<rootDir>/test/cluster/**/*.test.ts"],
  testPathIgnorePatterns: [],
  testTimeout: 600_000,
  // One node: what a test stops would be missing in the others.
  maxWorkers: 1,
};
