// node code-cache.mjs [CLI]: cli/register.cache beside it, V8's code cache of what a registration runs, for the Node that
// runs this. It is for an image, whose Node is known; src/cli/parts.ts reads it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import vm from "node:vm";

const require = createRequire(import.meta.url);
const { startCsiDriver, startKubelet } = require("./dist/testing.js");

const cli = resolve(process.argv[2] ?? "dist/cli.js");
const cache = join(dirname(cli), "cli", "register.cache");
rmSync(cache, { force: true });

// V8 gives the cache of a script that has run, with the functions that were called; so the one that the CLI makes is kept.
let part;
vm.Script = class extends vm.Script {
  constructor(...args) {
    super(...args);
    part = this;
  }
};

const folder = mkdtempSync(join(tmpdir(), "code-cache-"));
process.on("exit", (code) => {
  rmSync(folder, { recursive: true, force: true });
  if (code === 0) writeFileSync(cache, part.createCachedData());
});

// One registration from start to end.
const name = "disk.csi.example.com";
const csiAddress = join(folder, "csi.sock");
const pluginDir = join(folder, "reg");
mkdirSync(pluginDir);
await startCsiDriver({ csiAddress, name });
const kubelet = await startKubelet({ pluginDir });
const paths = {
  "csi-address": csiAddress,
  "kubelet-registration-path": csiAddress,
  "plugin-registration-path": pluginDir,
};
process.argv = [process.execPath, cli, ...Object.entries(paths).map(([flag, path]) => `--${flag}=${path}`)];
require(cli);
await kubelet.registered(name, { signal: AbortSignal.timeout(60_000) });
process.kill(process.pid, "SIGTERM");
