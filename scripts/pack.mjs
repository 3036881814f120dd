// npm run package [-- FOLDER]: the tarball as users get it. Its package.json has no scripts and no list of development
// packages, which mean nothing to users: an installation of the unpacked folder would run `prepare`, and fail.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

/** Fields that only a clone needs. */
const OF_A_CLONE = ["scripts", "devDependencies", "allowScripts"];

const [destination = "."] = process.argv.slice(2);
mkdirSync(destination, { recursive: true });

function npmPack(cwd, ...args) {
  const options = ["pack", "--json", "--ignore-scripts", ...args];
  return JSON.parse(
    execFileSync("npm", options, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }),
  );
}

const staged = mkdtempSync(join(tmpdir(), "registrar-package-"));
try {
  const [{ files }] = npmPack(".", "--dry-run");
  for (const { path } of files) {
    mkdirSync(dirname(join(staged, path)), { recursive: true });
    copyFileSync(path, join(staged, path));
  }
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  // Links to what only a clone has lead to the repository; comments, such as the names of figures' constants, stay in the clone.
  const packedPaths = new Set(files.map(({ path }) => path));
  for (const page of [...packedPaths].filter((path) => path.endsWith(".md"))) {
    const shown = readFileSync(page, "utf8").replace(/^<!--.*-->\n|<!--.*?-->/gm, "");
    const text = shown.replace(/(?<=\]\()(?!https:|#)([^)#]+)/g, (link) => {
      const target = join(dirname(page), link);
      return packedPaths.has(target) ? link : `${manifest.homepage}/blob/v${manifest.version}/${target}`;
    });
    writeFileSync(join(staged, page), text);
  }
  for (const field of OF_A_CLONE) delete manifest[field];
  writeFileSync(join(staged, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const packed = npmPack(staged, "--pack-destination", resolve(destination));
  process.stdout.write(`${JSON.stringify(packed, null, 2)}\n`);
} finally {
  rmSync(staged, { recursive: true, force: true });
}
