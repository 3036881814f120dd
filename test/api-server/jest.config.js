const base = require("../../jest.config.js");

/** Node readiness against a real API server: needs Go, builds for half an hour the first time. @type {import("jest").Config} */
module.exports = {
  ...base,
  rootDir: "../..",
  testMatch: ["<rootDir>/test/api-server/**/*.test.ts"],
  testPathIgnorePatterns: [],
  globalSetup: "<rootDir>/test/api-server/support/global-setup.ts",
  maxWorkers: 1,
};
