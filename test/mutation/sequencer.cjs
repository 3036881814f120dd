const { readFileSync } = require("node:fs");
const { default: Sequencer } = require("@jest/test-sequencer");

/** Jest's order of test files: that of the plan. */
module.exports = class extends Sequencer {
  sort(tests) {
    const order = Object.keys(JSON.parse(readFileSync(process.env.MUTATION_PLAN, "utf8")));
    return [...tests].sort((one, other) => order.indexOf(one.path) - order.indexOf(other.path));
  }
};
