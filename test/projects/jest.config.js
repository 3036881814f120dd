const base = require("../../jest.config.js");

/** The suite that installs the package as its users do: npm asks the registry. @type {import("jest").Config} */
module.exports = {
  ...base,
  rootDir: "../..",
  testMatch: ["<rootDir>/test/projects/projects.test.ts"],
  testPathIgnorePatterns: [],
  testTimeout: 600_000,
};
