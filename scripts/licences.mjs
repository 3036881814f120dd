// What the licences of bundled packages ask for: their texts, beside the bundle.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The innermost package folder of an input file: `node_modules/cliui/node_modules/ansi-regex`. */
const PACKAGE_FOLDER = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
const LICENCE_FILE = /^(licen[cs]e|copying|notice)\b/i;

/**
 * An esbuild plugin that writes `outfile`: every package with code in the bundle, with its licence. Used for
 * several bundles, it writes what is in any of them. A package without a licence text fails the build.
 */
export function thirdPartyLicences(outfile) {
  const packages = new Map();
  return {
    name: "third-party-licences",
    setup(build) {
      build.initialOptions.metafile = true;
      build.onEnd(({ metafile }) => {
        for (const { inputs } of Object.values(metafile?.outputs ?? {}))
          for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
            const [folder] = PACKAGE_FOLDER.exec(path) ?? [];
            if (folder !== undefined && bytesInOutput > 0) packages.set(folder, readPackage(folder));
          }
        writeFileSync(outfile, render([...packages.values()]));
      });
    },
  };
}

function readPackage(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder)
    .filter((file) => LICENCE_FILE.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim());
  if (texts.length === 0) throw new Error(`${folder} has no licence text, so it cannot be bundled`);
  return { title: `${name} ${version} (${license})`, text: texts.join("\n\n") };
}

/** One section for each text: packages that have the same one share it. */
function render(packages) {
  const titlesOf = new Map();
  for (const { title, text } of packages) titlesOf.set(text, new Set([...(titlesOf.get(text) ?? []), title]));
  const sections = [...titlesOf]
    .map(([text, titles]) => `${[...titles].sort().join("\n")}\n\n${text}\n`)
    .sort();
  const head =
    "The registrar's command line contains code of these packages, under the licences that follow.\n";
  return [head, ...sections].join(`\n${"=".repeat(80)}\n\n`);
}
