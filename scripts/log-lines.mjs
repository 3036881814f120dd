import { readFileSync } from "node:fs";
import { basename } from "node:path";

/**
 * Stamps each log call with the file and line it stands on, as Go's compiler does for klog: in a bundle both are otherwise
 * gone. `log.info(` becomes `log.named("driver").at(12).info(`. A logger under another name would lose them:
 * test/architecture.test.ts allows none.
 */
export const stampLogLines = {
  name: "stamp-log-lines",
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
      loader: "ts",
      contents: readFileSync(path, "utf8")
        .split("\n")
        .map((line, index) => stampLogCalls(line, path, `at(${index + 1}).`))
        .join("\n"),
    }));
  },
};

/** Stamps the calls with the file alone: the library's files have other lines than their sources. */
export const stampLogCalls = (text, path, more = "") =>
  text.replace(
    /\blog\.(?=(?:info|warn|error|v)\()/g,
    `log.named("${basename(path).split(".", 1)[0]}").${more}`,
  );
