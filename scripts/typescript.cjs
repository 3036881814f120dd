// `node --require ./scripts/typescript.cjs FILE.ts` runs TypeScript, compiled as jest compiles it, with no output folder.
const { readFileSync } = require("node:fs");
const transformer = require("../test/support/esbuild-transform.js");

require.extensions[".ts"] = (module, path) =>
  module._compile(transformer.process(readFileSync(path, "utf8"), path).code, path);
