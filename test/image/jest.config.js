const base = require("../../jest.config.js");

/** The suite of the image, which it builds first: needs buildah. @type {import("jest").Config} */
module.exports = {
  ...base,
  rootDir: "../..",
  testMatch: ["<rootDir>/test/image/**/*.test.ts"],
  testPathIgnorePatterns: [],
  // A release builds for minutes.
  testTimeout: 1_800_000,
  globalSetup: "<rootDir>/test/image/support/global-setup.ts",
};
