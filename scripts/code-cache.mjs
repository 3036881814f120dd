// node scripts/code-cache.mjs [CLI]: cli/*.cache beside it, V8's code cache of what a registration and the tools run, for the
// Node that runs this. It is for an image, whose Node is known; src/runtime/parts.ts reads it.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import v8 from "node:v8";
import vm from "node:vm";

const require = createRequire(import.meta.url);
const { startCsiDriver, startKubelet } = require("../dist/testing.js");
const { startRegistrar } = require("../dist/index.js");

// Its real path, which it goes by itself, also where a folder on the way is a link.
const cli = require.resolve(resolve(process.argv[2] ?? "dist/cli.js"));
const parts = join(dirname(cli), "cli");
for (const file of readdirSync(parts)) if (file.endsWith(".cache")) rmSync(join(parts, file));

// V8 gives the cache of a script that has run, with the functions that were called, unless it has dropped them to save
// memory meanwhile. A cache is refused by a V8 whose flags differ from those it was made with: the CLI, which sets some
// after its start, sets none here.
const { setFlagsFromString } = v8;
setFlagsFromString("--no-flush-bytecode");
const flagsOfCli = new Set();
v8.setFlagsFromString = (flag) => flagsOfCli.add(flag);
const { Script } = vm;
/** By the path of the cache: as the latest run has used it. */
const scripts = new Map();
vm.Script = class extends Script {
  constructor(text, options) {
    super(text, options);
    scripts.set(options.filename.replace(/\.js$/, ".cache"), this);
  }
};

const folder = mkdtempSync(join(tmpdir(), "code-cache-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const { exit } = process;

/** Runs a line of the CLI; resolves when it would exit. */
function run(...words) {
  return new Promise((resolve) => {
    process.exit = resolve;
    process.argv = [process.execPath, cli, ...words];
    delete require.cache[cli];
    require(cli);
  });
}

const name = "disk.csi.example.com";
const csiAddress = join(folder, "csi.sock");
const pluginRegistrationPath = join(folder, "reg");
mkdirSync(pluginRegistrationPath);
await startCsiDriver({ csiAddress, name });
const kubelet = await startKubelet({ pluginRegistrationPath });
const nextRegistered = () =>
  kubelet.events.when("called", {
    where: ({ call }) => call === "NotifyRegistrationStatus",
    from: "now",
    timeoutMs: 60_000,
  });

// The tools look at a registrar that is not the CLI's, so that each part is one that one line has used.
const registered = nextRegistered();
const registrar = await startRegistrar({
  ...{ csiAddress, pluginRegistrationPath },
  endpoint: csiAddress,
});
await registered;
const look = `--plugin-registration-path=${pluginRegistrationPath}`;
await run("status", look);
await run("--mode=health-probe", look, `--kubelet-registration-path=${csiAddress}`);
await run("doctor", look, `--csi-address=${csiAddress}`);
const manifest = ["manifest", "--node-wide", "--image=registrar:v1"];
await run(...manifest);
// The image's build has no examples.
const file = join(folder, "node-wide.yaml");
writeFileSync(file, execFileSync(process.execPath, [cli, ...manifest]));
await run("doctor", "-f", file);
await registrar.close();

// One registration from start to end, until kubelet has sent the registration status and a probe was answered.
const registeredAgain = nextRegistered();
const port = 10_000 + (process.pid % 20_000);
const registration = run(
  ...[`--csi-address=${csiAddress}`, `--kubelet-registration-path=${csiAddress}`, look],
  `--http-endpoint=127.0.0.1:${port}`,
);
await registeredAgain;
for (let n = 0; n < 2; n++) await fetch(`http://127.0.0.1:${port}/healthz`).then((r) => r.text());
process.kill(process.pid, "SIGTERM");
await registration;

const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
for (const flag of flagsOfCli)
  if (!known.includes(`\n  --${flag.replace(/^--(?:no-)?|=.*$/g, "")} (`))
    throw new Error(`this Node's V8 would print an error at each start: it does not know ${flag}`);
setFlagsFromString("--flush-bytecode");
for (const [cache, script] of scripts) {
  const cachedData = script.createCachedData();
  writeFileSync(cache, cachedData);
  const filename = cache.replace(/\.cache$/, ".js");
  const { cachedDataRejected } = new Script(readFileSync(filename, "latin1"), { filename, cachedData });
  if (cachedDataRejected) throw new Error(`V8 refuses the code cache that it made: ${cache}`);
}
exit(0);
