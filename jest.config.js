/** @type {import("jest").Config} */
module.exports = {
  testEnvironment: "node",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  testPathIgnorePatterns: ["<rootDir>/test/drivers/", "<rootDir>/test/image/", "<rootDir>/test/kubelet/"],
  transform: { "\\.ts$": "<rootDir>/test/support/esbuild-transform.js" },
  testTimeout: 30_000,
};
