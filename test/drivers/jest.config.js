const base = require("../../jest.config.js");

/** The suite with drivers in other languages: needs Go, Python and Rust. @type {import("jest").Config} */
module.exports = {
  ...base,
  rootDir: "../..",
  testMatch: ["<rootDir>/test/drivers/**/*.test.ts"],
  testPathIgnorePatterns: ["<rootDir>/test/drivers/built/"],
  globalSetup: "<rootDir>/test/drivers/support/global-setup.ts",
};
