// `node --require ./collector.cjs PROGRAM`: at SIGWINCH the process collects its garbage and writes what is left of its
// heap to stdout, in bytes. Counting objects, of a class that has none, begins with V8's most thorough collection,
// which also gives free pages back; `gc()` does not in Node 20.
const { writeSync } = require("node:fs");
const { queryObjects } = require("node:v8");

class Nobody {}

process.on("SIGWINCH", () => {
  // It is experimental, which Node says on stderr: that belongs to the program, whose every line is read.
  const { emitWarning } = process;
  process.emitWarning = () => {};
  queryObjects(Nobody, { format: "count" });
  process.emitWarning = emitWarning;
  writeSync(1, `${JSON.stringify({ heapUsed: process.memoryUsage().heapUsed })}\n`);
});
