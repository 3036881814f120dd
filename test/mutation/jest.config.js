const { globalSetup, globalTeardown, ...fastSuite } = require("../../jest.config.js");

/** For one mutant: setup was once, for all. @type {import("jest").Config} */
module.exports = {
  ...fastSuite,
  testEnvironment: `${__dirname}/environment.cjs`,
  reporters: [`${__dirname}/reporter.cjs`],
};
