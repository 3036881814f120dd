/** What starts many processes, floods one, or packs the package: `npm run test:process` runs these, `npm test` does not. */
module.exports = [
  "test/process/",
  "test/package/",
  "test/charts/charts.test.ts",
  "test/tools/doctor/command-cluster.test.ts",
];
