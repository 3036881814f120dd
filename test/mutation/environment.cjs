const { TestEnvironment } = require("jest-environment-node");
const { createStryker } = require("./in-processes.cjs");

const titleOf = ({ name, parent }) => (parent.parent ? `${titleOf(parent)} ${name}` : name);
const testsOf = ({ type, children }, block) =>
  type === "test" ? [block] : children.flatMap((one) => testsOf(one, one));

/** Jest's environment: runs the tests of the plan only, each with its timeout, until one fails, and says which one runs. */
module.exports = function createEnvironment(config, context) {
  const { MUTATION_PLAN: plan } = process.env;
  const planned = plan && JSON.parse(plan);
  const environment = new TestEnvironment(config, context);
  const { testPath } = context;
  const stryker = createStryker(testPath, "");
  environment.global.__stryker__ = stryker.global;
  const startTest = (name) => {
    stryker.startTest(name);
    // Inherited by the processes that it starts.
    for (const { env } of [process, environment.global.process])
      env.MUTATION_TEST = JSON.stringify([testPath, name]);
  };
  startTest("");
  let hasFailed = false;
  environment.handleTestEvent = ({ name, test }, { rootDescribeBlock }) => {
    if (name === "run_start" && planned !== undefined)
      for (const one of testsOf(rootDescribeBlock, rootDescribeBlock)) {
        const timeout = planned[testPath][titleOf(one)];
        if (timeout === undefined) one.mode = "skip";
        else one.timeout = timeout;
      }
    if (name === "test_start" && planned !== undefined && hasFailed) test.mode = "skip";
    if (name === "test_started") startTest(titleOf(test));
    if (name === "test_done") {
      startTest("");
      hasFailed ||= test.errors.length > 0;
    }
  };
  return environment;
};
