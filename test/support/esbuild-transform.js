const { transformSync } = require("esbuild");

/** Jest transformer: the build's own compiler, so tests run the syntax that ships. */
module.exports = {
  process: (text, path) =>
    transformSync(text, {
      sourcefile: path,
      loader: "ts",
      format: "cjs",
      target: "node20",
      // Jest's sandbox has no import(); the bundle's are require() too.
      supported: { "dynamic-import": false },
      sourcemap: "external",
    }),
};
