/** Jest's reporter: sends what starts and ends to the process that started jest. */
module.exports = function createReporter() {
  const send = (kind, { path }, name) => process.send({ kind, file: path, name });
  return {
    onTestCaseStart: (test, { fullName }) => send("started", test, fullName),
    onTestCaseResult: (test, { fullName, status }) =>
      send(status === "failed" ? "failed" : "ended", test, fullName),
    // Its file does not load, or what runs after its tests fails.
    onTestResult: (test, { testExecError }) => send(testExecError ? "failed" : "ended", test, ""),
    getLastError: () => undefined,
  };
};
