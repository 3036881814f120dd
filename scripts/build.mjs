// npm run build: proto/ -> src/grpc/descriptors.json, src/ -> typed library files and the bundled CLI, in dist/.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import protobuf from "protobufjs";
import { bundleCli } from "./cli-parts.mjs";
import { thirdPartyLicences } from "./licences.mjs";

/** The two wire contracts as JSON descriptors, so that no start of the CLI parses .proto text. */
function writeDescriptors() {
  const root = protobuf.loadSync(
    ["pluginregistration.proto", "csi.proto"].map((name) => join("proto", name)),
  );
  writeFileSync("src/grpc/descriptors.json", `${JSON.stringify(root.toJSON(), null, 2)}\n`);
}

rmSync("dist", { recursive: true, force: true });
writeDescriptors();
execFileSync("node_modules/.bin/tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
await bundleCli({ version, licences: thirdPartyLicences("dist/THIRD-PARTY-LICENSES.txt") });
