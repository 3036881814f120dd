// node scripts/code-cache.mjs [CLI]: cli/*.cache beside it, V8's code cache of what a registration runs, for the Node that
// runs this. It is for an image, whose Node is known; src/cli/parts.ts reads it.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import vm from "node:vm";

const require = createRequire(import.meta.url);
const { startCsiDriver, startKubelet } = require("../dist/testing.js");

const cli = resolve(process.argv[2] ?? "dist/cli.js");
const parts = join(dirname(cli), "cli");
for (const file of readdirSync(parts)) if (file.endsWith(".cache")) rmSync(join(parts, file));

// V8 gives the cache of a script that has run, with the functions that were called, unless it has dropped them to save
// memory meanwhile. A cache is refused by a V8 whose flags differ from those it was made with.
setFlagsFromString("--no-flush-bytecode");
const scripts = new Map();
vm.Script = class extends vm.Script {
  constructor(text, options) {
    super(text, options);
    scripts.set(options.filename.replace(/\.js$/, ".cache"), this);
  }
};

const folder = mkdtempSync(join(tmpdir(), "code-cache-"));
process.on("exit", (code) => {
  rmSync(folder, { recursive: true, force: true });
  if (code !== 0) return;
  setFlagsFromString("--flush-bytecode");
  for (const [cache, script] of scripts) writeFileSync(cache, script.createCachedData());
});

// One registration from start to end.
const name = "disk.csi.example.com";
const csiAddress = join(folder, "csi.sock");
const pluginRegistrationPath = join(folder, "reg");
mkdirSync(pluginRegistrationPath);
await startCsiDriver({ csiAddress, name });
const kubelet = await startKubelet({ pluginRegistrationPath });
const paths = {
  "csi-address": csiAddress,
  "kubelet-registration-path": csiAddress,
  "plugin-registration-path": pluginRegistrationPath,
};
process.argv = [process.execPath, cli, ...Object.entries(paths).map(([flag, path]) => `--${flag}=${path}`)];
require(cli);
await kubelet.registered(name, { timeoutMs: 60_000 });
process.kill(process.pid, "SIGTERM");
