// npm run build: proto/ -> src/grpc/descriptors.json, src/ -> typed library files and the bundled CLI, in dist/.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import * as esbuild from "esbuild";
import protobuf from "protobufjs";
import { thirdPartyLicences } from "./licences.mjs";

const licences = thirdPartyLicences("dist/THIRD-PARTY-LICENSES.txt");
const { version } = JSON.parse(readFileSync("package.json", "utf8"));

/**
 * The parts of the CLI beside dist/cli.js, and the modules of src/cli/ in each. V8 reads a file to its end before it
 * runs the first line, which for all of this takes half as long as Node itself to start, and an exec probe has a tenth
 * of a CPU: so what `main` loads with `import()` lies in a file of its own, until src/cli/parts.ts runs it.
 */
const CLI_PARTS = {
  register: ["commands/register"],
  commands: [
    "help",
    ...["demo", "doctor", "driver", "kubelet", "manifest"].map((name) => `commands/${name}`),
  ],
};

/**
 * What packages load and the CLI never calls, as the least that lets them load: 15 to 25 ms of each start, 3 MB.
 */
const NEVER_CALLED = {
  // The descriptors of all messages for gRPC reflection, which proto-loader makes whether they are served or not.
  "protobufjs/ext/descriptor": `
    const { Enum, Root, Type } = require("protobufjs");
    const descriptor = { file: [], $type: { toObject: () => ({}) } };
    for (const { prototype } of [Enum, Root, Type]) prototype.toDescriptor = () => descriptor;`,
  // pino's own destinations: it is given ours.
  "sonic-boom": "module.exports = class {};",
  "thread-stream": "module.exports = class {};",
  // prom-client's default metrics: it is given ours.
  "@opentelemetry/api": "module.exports = {};",
};

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

/** Leads an `import()` of a module that lies in another part to that part. */
const loadOtherParts = {
  name: "load-other-parts",
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ kind, path, importer }) => {
      const module = relative("src/cli", resolve(dirname(importer), path));
      const part = Object.keys(CLI_PARTS).find((name) => CLI_PARTS[name].includes(module));
      return kind === "dynamic-import" && part ? { path: part, namespace: "cli-part" } : undefined;
    });
    build.onLoad({ filter: /./, namespace: "cli-part" }, ({ path }) => ({
      contents: `module.exports = require("./parts").runPart(__filename, "${path}");`,
      resolveDir: "src/cli",
    }));
  },
};

const leaveOutNeverCalled = {
  name: "leave-out-never-called",
  setup(build) {
    build.onResolve({ filter: /./ }, ({ path }) =>
      path in NEVER_CALLED ? { path, namespace: "never-called" } : undefined,
    );
    build.onLoad({ filter: /./, namespace: "never-called" }, ({ path }) => ({
      contents: NEVER_CALLED[path],
      resolveDir: ".",
    }));
  },
};

/** One part of the CLI. Names are kept: a stack trace in somebody's log is worth more than a shorter file. */
async function bundlePart(modules) {
  const { outputFiles } = await esbuild.build({
    stdin: {
      contents: modules.map((module) => `export * from "./${module}";`).join("\n"),
      resolveDir: "src/cli",
    },
    write: false,
    bundle: true,
    platform: "node",
    target: "node20.19",
    format: "cjs",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    define: { "import.meta.url": "importMetaUrl", REGISTRAR_VERSION: JSON.stringify(`v${version}`) },
    plugins: [loadOtherParts, leaveOutNeverCalled, stampLogLines, licences],
    logLevel: "warning",
  });
  return outputFiles[0].text;
}

async function bundleCli() {
  mkdirSync("dist/cli");
  for (const [name, modules] of Object.entries(CLI_PARTS))
    writeFileSync(`dist/cli/${name}.js`, await bundlePart(modules));
  const main = await bundlePart(["main"]);
  writeFileSync("dist/cli.js", `#!/usr/bin/env node\n${main}`, { mode: 0o755 });
}

rmSync("dist", { recursive: true, force: true });
writeDescriptors();
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
await bundleCli();
