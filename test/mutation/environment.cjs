const { readFileSync } = require("node:fs");
const { TestEnvironment } = require("jest-environment-node");
const { createStryker } = require("./in-processes.cjs");

const { MUTATION_PLAN: plan } = process.env;
const planned = plan && JSON.parse(readFileSync(plan, "utf8"));

const titleOf = ({ name, parent }) => (parent.parent ? `${titleOf(parent)} ${name}` : name);
const testsOf = ({ type, children }, block) =>
  type === "test" ? [block] : children.flatMap((one) => testsOf(one, one));

/** Jest's environment: runs the tests of the plan only, each with its timeout, and says which one runs. */
module.exports = function createEnvironment(config, context) {
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
  environment.handleTestEvent = ({ name, test }, { rootDescribeBlock }) => {
    if (name === "run_start" && planned !== undefined)
      for (const one of testsOf(rootDescribeBlock, rootDescribeBlock)) {
        const timeout = planned[testPath][titleOf(one)];
        if (timeout === undefined) one.mode = "skip";
        else one.timeout = timeout;
      }
    if (name === "test_started") startTest(titleOf(test));
    if (name === "test_done") startTest("");
  };
  return environment;
};
