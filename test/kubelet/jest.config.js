const base = require("../../jest.config.js");

/** The suite with kubelet's real code: needs Go, builds for minutes the first time. @type {import("jest").Config} */
module.exports = {
  ...base,
  rootDir: "../..",
  testMatch: ["<rootDir>/test/kubelet/**/*.test.ts"],
  testPathIgnorePatterns: [],
  globalSetup: "<rootDir>/test/kubelet/support/global-setup.ts",
  testTimeout: 120_000,
};
