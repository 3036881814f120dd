// node command-host.cjs CLI: runs a line of the built CLI for each line of stdin, a JSON array of its words, one after
// another in this process. Its last word on stdout and stderr is a NUL, then the exit code, then a newline.
const { writeSync } = require("node:fs");
const { createInterface } = require("node:readline");

const vm = require("node:vm");

const cli = require.resolve(process.argv[2]);

/** Compiles each part once: half of what a line costs. It is run anew for each. */
const { Script } = vm;
const compiled = new Map();
vm.Script = function compileOnce(text, options) {
  const { filename } = options;
  if (!compiled.has(filename)) compiled.set(filename, new Script(text, options));
  return compiled.get(filename);
};

/** Loads all of the CLI anew, as a process does, and resolves with the code that it would have exited with. */
function run(words) {
  return new Promise((resolve) => {
    process.exit = resolve;
    process.argv = [process.execPath, cli, ...words];
    for (const name of ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR2"])
      process.removeAllListeners(name);
    delete require.cache[cli];
    require(cli);
  });
}

async function main() {
  for await (const line of createInterface({ input: process.stdin })) {
    const code = await run(JSON.parse(line));
    for (const fd of [1, 2]) writeSync(fd, `\0${code}\n`);
  }
}

void main();
