// npm run sbom [-- FILE]: what reaches a user, as a CycloneDX list: the library's dependencies by the lock file, and the
// packages with code in the bundle of the command line.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const [file = "dist/sbom.cdx.json"] = process.argv.slice(2);
const { name, packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));

const flags = ["--package-lock-only", "--sbom-format=cyclonedx", "--sbom-type=application"];
const list = JSON.parse(execFileSync("npm", ["sbom", ...flags], { encoding: "utf8", maxBuffer: 2 ** 26 }));

const licences = readFileSync("dist/THIRD-PARTY-LICENSES.txt", "utf8");
const bundled = Array.from(
  licences.matchAll(/^(\S+) (\d\S*) \(.+\)$/gm),
  ([, name, version]) => `${name}@${version}`,
);
// With --omit=dev npm 11 also leaves out what production and development both need.
const installed = Object.entries(packages)
  .filter(([, { dev }]) => !dev)
  .map(([path, { version }]) => `${path.split("node_modules/").at(-1) || name}@${version}`);
const wanted = new Set([...installed, ...bundled]);
const isWanted = (ref) => wanted.has(ref);
list.components = list.components.filter((component) => isWanted(component["bom-ref"]));
list.dependencies = list.dependencies
  .filter(({ ref }) => isWanted(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isWanted) }));
// npm names the whole after the folder that it is in.
list.metadata.component.name = name;

mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${JSON.stringify(list, null, 2)}\n`);
process.stdout.write(`${file}: ${list.components.length} packages\n`);
