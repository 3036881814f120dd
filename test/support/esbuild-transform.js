const { transformSync } = require("esbuild");

/** Jest transformer: the build's own compiler, so tests run the syntax that ships. */
module.exports = {
  process: (text, path) =>
    transformSync(text, {
      sourcefile: path,
      loader: "ts",
      format: "cjs",
      target: "node20",
      sourcemap: "inline",
    }),
};
