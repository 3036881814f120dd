// node code-cache-of-commands.cjs CLI: cli/commands.cache beside it, as scripts/code-cache.mjs makes those of the parts
// that an image runs. The tests start the commands often.
const { readFileSync, writeFileSync } = require("node:fs");
const { dirname, join, resolve } = require("node:path");
const v8 = require("node:v8");
const vm = require("node:vm");

// Its real path, which it goes by itself, also where a folder on the way is a link.
const cli = require.resolve(resolve(process.argv[2]));
const part = join(dirname(cli), "cli", "commands");

// V8 drops the code of functions that were not called for a while, unless it is told to keep it.
v8.setFlagsFromString("--no-flush-bytecode");
const { Script } = vm;
let commands;
vm.Script = class extends Script {
  constructor(text, options) {
    super(text, options);
    if (options.filename === `${part}.js`) commands = this;
  }
};

process.exit = () => {
  v8.setFlagsFromString("--flush-bytecode");
  const cachedData = commands.createCachedData();
  writeFileSync(`${part}.cache`, cachedData);
  const filename = `${part}.js`;
  if (new Script(readFileSync(filename, "latin1"), { filename, cachedData }).cachedDataRejected)
    throw new Error("V8 refuses the code cache that it made");
};
process.argv = [process.execPath, cli, "doctor", "--plugin-registration-path=/nowhere"];
require(cli);
