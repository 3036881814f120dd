// npm run build: src/ -> typed library files and the bundled CLI, in dist/. Writes nothing else.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleCli } from "./cli-parts.mjs";
import { thirdPartyLicences } from "./licences.mjs";
import { stampLogCalls } from "./log-lines.mjs";

rmSync("dist", { recursive: true, force: true });
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
adaptLibrary();
await bundleCli(thirdPartyLicences("dist/THIRD-PARTY-LICENSES.txt"));

/** Node 20 and 22 give a fresh VM context, as jest 29 and vitest's vmThreads run tests in, no `Symbol.dispose`. */
function adaptLibrary() {
  for (const name of readdirSync("dist", { recursive: true }).filter((name) => name.endsWith(".js"))) {
    const text = readFileSync(join("dist", name), "utf8");
    const known = text.replace(
      /(?<!")\bSymbol\.((?:asyncD|d)ispose)\b/g,
      '(Symbol.$1 ?? Symbol.for("Symbol.$1"))',
    );
    const stamped = stampLogCalls(known, name);
    if (stamped !== text) writeFileSync(join("dist", name), stamped);
  }
}
