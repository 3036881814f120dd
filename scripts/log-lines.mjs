import { readFileSync } from "node:fs";

/**
 * Stamps each log call with the line it stands on, as Go's compiler does for klog: in a bundle, the line of the source
 * file is otherwise gone. `log.info(` becomes `log.at(12).info(`. A logger under another name would lose its lines:
 * test/architecture.test.ts allows none.
 */
export const stampLogLines = {
  name: "stamp-log-lines",
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
      loader: "ts",
      contents: readFileSync(path, "utf8")
        .split("\n")
        .map((line, index) => line.replace(/\blog\.(?=(?:info|warn|error|v)\()/g, `log.at(${index + 1}).`))
        .join("\n"),
    }));
  },
};
