// npm run build: proto/ -> src/grpc/contracts.ts, src/ -> typed library files and the bundled CLI, in dist/.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { bundleCli } from "./cli-parts.mjs";
import { writeContracts } from "./contracts.mjs";
import { thirdPartyLicences } from "./licences.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));

rmSync("dist", { recursive: true, force: true });
writeContracts("src/grpc/contracts.ts");
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
await bundleCli({ version, licences: thirdPartyLicences("dist/THIRD-PARTY-LICENSES.txt") });
