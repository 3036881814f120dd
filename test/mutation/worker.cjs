// Runs, for one mutant after another, the test files of its plan until a test fails: what jest has loaded stays loaded.
const { runCLI } = require("jest");

const config = `${__dirname}/jest.config.js`;
const flags = { config, runInBand: true, runTestsByPath: true, silent: true, watchman: false, ci: true };

/** Tests and the processes that they start inherit the folder and the mutant; environment.cjs has the rest. */
async function judge({ plan, mutant, folder }) {
  process.env.REGISTRAR_RUN_FOLDER = folder;
  if (mutant === undefined) delete process.env.__STRYKER_ACTIVE_MUTANT__;
  else process.env.__STRYKER_ACTIVE_MUTANT__ = mutant;
  for (const [file, tests] of Object.entries(plan)) {
    process.env.MUTATION_PLAN = JSON.stringify({ [file]: tests });
    const { results } = await runCLI({ _: [file], $0: "jest", ...flags }, [process.cwd()]);
    if (results.testResults.length !== 1) throw new Error(`${file} did not run`);
    if (!results.success) break;
  }
  process.send({ kind: "done" });
}

let last = Promise.resolve();
process.on("message", (next) => {
  last = last.then(() => judge(next)).catch(({ stack }) => process.send({ kind: "broken", name: stack }));
});
