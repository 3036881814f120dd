const base = require("../../jest.config.js");
const slow = require("./slow-tests.js");

/** The suite of what takes longer than a developer would wait for each change. @type {import("jest").Config} */
module.exports = {
  ...base,
  rootDir: "../..",
  testMatch: slow.map((path) => `<rootDir>/${path}${path.endsWith("/") ? "**/*.test.ts" : ""}`),
  testPathIgnorePatterns: [],
};
