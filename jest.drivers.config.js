const base = require("./jest.config.js");

/** The suite with drivers in other languages: needs Go, Python and Rust. @type {import("jest").Config} */
module.exports = {
  ...base,
  testMatch: ["<rootDir>/test/drivers/**/*.test.ts"],
  testPathIgnorePatterns: ["<rootDir>/test/drivers/built/"],
  globalSetup: "<rootDir>/test/drivers/support/global-setup.ts",
  // They wait for processes that start, half of the time.
  maxWorkers: 2,
};
