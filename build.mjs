// npm run build: proto/ -> src/grpc/descriptors.json, src/ -> typed library files and one self-contained CLI, in dist/.
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import protobuf from "protobufjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));

/** The two wire contracts as JSON descriptors, so that no start of the CLI parses .proto text. */
function writeDescriptors() {
  const root = protobuf.loadSync(
    ["pluginregistration.proto", "csi.proto"].map((name) => join("proto", name)),
  );
  writeFileSync("src/grpc/descriptors.json", `${JSON.stringify(root.toJSON(), null, 2)}\n`);
}

/**
 * Stamps each log call with the line it stands on, as Go's compiler does for klog: in a bundle, the line of the
 * source file is otherwise gone. `log.info(` becomes `log.at(12).info(`.
 */
const stampLogLines = {
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

async function bundleCli() {
  await esbuild.build({
    entryPoints: ["src/cli/main.ts"],
    outfile: "dist/cli.js",
    bundle: true,
    platform: "node",
    target: "node20.19",
    format: "cjs",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    banner: {
      js: "#!/usr/bin/env node\nconst importMetaUrl = require('node:url').pathToFileURL(__filename).href;",
    },
    define: { "import.meta.url": "importMetaUrl", REGISTRAR_VERSION: JSON.stringify(`v${version}`) },
    plugins: [stampLogLines],
    logLevel: "warning",
  });
  chmodSync("dist/cli.js", 0o755);
}

rmSync("dist", { recursive: true, force: true });
writeDescriptors();
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
await bundleCli();
