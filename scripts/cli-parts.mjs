// Bundles the CLI: dist/cli.js, which starts it, and its parts in dist/cli/.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import * as esbuild from "esbuild";
import { writeHelp } from "./help.mjs";
import { leaveOut } from "./left-out.mjs";
import { stampLogLines } from "./log-lines.mjs";
import { closureTable, OF_A_NODE } from "./node-closure.mjs";

/**
 * The parts, and what is in each: modules under src/, or a package. An `import()` of any of them leads to its part, which
 * src/runtime/parts.ts then runs; whatever else a module imports is in the same part, but for OF_PROCESS, which all parts
 * share. The first part is loaded first. These are for a node; what each driver's registration runs is in one, which starts quicker
 * than several, and what a flag asks for has its own.
 */
const OF_REGISTRATION = {
  main: ["cli/main", "unix/file-calls"],
  register: [
    ...["cli/register", "registrar/start-driver-registration"],
    ...["unix/path-watch", "unix/private-socket", "unix/socket-file", "unix/until-done", "grpc/status"],
  ],
  probe: ["cli/probe"],
  diagnostics: ["diagnostics"],
  "node-wide": ["registrar/start-node-registrations"],
  // For the one line that comes before a registration is loaded, which has the same in it.
  "cli-logger": ["runtime/cli-logger"],
  "node-readiness": ["cli/node-readiness"],
  "json-line": ["logging/json-line"],
  metrics: ["prom-client"],
};

/** These are for people. What one of them has, the others load from there. */
const OF_TOOLS = {
  doctor: ["tools/doctor/command"],
  // They know the lists that they made.
  "doctor-seen": ["tools/doctor/findings/seen", "tools/doctor/findings/opened"],
  "doctor-node": [...["read/directory", "read/gather", "report"].map((name) => `tools/doctor/node/${name}`)],
  "doctor-files": ["tools/doctor/files/read/documents", "tools/doctor/files/report"],
  "doctor-cluster": [
    ...["cluster", "kubectl-proxy", "list-api"].map((name) => `tools/doctor/cluster/read/${name}`),
    ...["report", "table"].map((name) => `tools/doctor/cluster/${name}`),
  ],
  status: ["tools/status/command"],
  manifest: ["tools/manifest/command"],
  simulations: [
    "tools/demo/command",
    "tools/legacy/command",
    "tools/simulate/kubelet",
    "tools/simulate/driver",
  ],
  grpc: ["@grpc/grpc-js"],
  "proto-loader": ["@grpc/proto-loader"],
  kubeconfig: ["kube-api/read-kubeconfig"],
  yaml: ["kube-api/yaml"],
};

const PARTS = { ...OF_REGISTRATION, ...OF_TOOLS };

/** One copy of each: the state of those in unix/ belongs to the process, and gRPC comes with the other. */
const OF_PROCESS = [
  "unix/file-calls",
  "unix/path-watch",
  "unix/private-socket",
  "unix/socket-file",
  "unix/until-done",
  "registrar/start-driver-registration",
  "grpc/status",
];

const loadOtherParts = (current) => ({
  name: "load-other-parts",
  setup(build) {
    build.onResolve({ filter: /./ }, ({ kind, path, importer }) => {
      const module = path.startsWith(".") ? relative("src", resolve(dirname(importer), path)) : path;
      const part = Object.keys(PARTS).find((name) => PARTS[name].includes(module));
      const isShared = OF_PROCESS.includes(module) || [current, part].every((name) => name in OF_TOOLS);
      const isElsewhere = kind === "dynamic-import" || (part !== current && isShared);
      return part && isElsewhere ? { path: `part:${part}`, external: true, sideEffects: false } : undefined;
    });
  },
});

const { version } = JSON.parse(readFileSync("package.json", "utf8"));

const START =
  'import { createRequireOfParts } from "./runtime/parts"; createRequireOfParts(require, __filename, __dirname)("part:main");';

/** What each part begins with. */
const BANNER =
  "(function(exports,require,module,__filename,__dirname){" +
  "const importMetaUrl=require('node:url').pathToFileURL(__filename).href;";

/** Keeps names: a readable stack trace in a log is worth more than a shorter file. */
async function bundle(part, plugins) {
  const isStart = part === "start";
  const { outputFiles, metafile } = await esbuild.build({
    stdin: { contents: isStart ? START : PARTS[part].map(exportsOf).join("\n"), resolveDir: "src" },
    write: false,
    metafile: true,
    bundle: true,
    platform: "node",
    target: "node20.19",
    format: "cjs",
    supported: { "dynamic-import": false },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    banner: { js: isStart ? "#!/usr/bin/env node" : BANNER },
    footer: { js: isStart ? "" : "})" },
    define: {
      "import.meta.url": "importMetaUrl",
      REGISTRAR_VERSION: JSON.stringify(`v${version}`),
    },
    plugins: [loadOtherParts(part), leaveOut, stampLogLines, ...plugins],
    logLevel: "warning",
  });
  const [{ inputs }] = Object.values(metafile.outputs);
  return { text: outputFiles[0].text, inputs };
}

async function bundleAll(parts, ...plugins) {
  const bundles = new Map();
  for (const part of parts) bundles.set(part, await bundle(part, plugins));
  return bundles;
}

/** Writes all files of the CLI. */
export async function bundleCli(licences) {
  const bundles = await bundleAll([...Object.keys(PARTS), "start"], licences);
  mkdirSync("dist/cli", { recursive: true });
  for (const [name, { text }] of bundles)
    if (name === "start") writeFileSync("dist/cli.js", text, { mode: 0o755 });
    else writeFileSync(`dist/cli/${name}.js`, text);
  await writeHelp("dist/cli");
}

/** The table of docs/security.md. */
export const readClosure = async () => closureTable(await bundleAll(OF_A_NODE));

function exportsOf(module) {
  const isOurs = /^(?:cli|diagnostics|flags|grpc|kube-api|logging|registrar|runtime|tools|unix)(?:\/|$)/.test(
    module,
  );
  return `export * from "${isOurs ? "./" : ""}${module}";`;
}
