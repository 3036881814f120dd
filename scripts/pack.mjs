// npm run package [-- FOLDER]: the tarball as users get it. Its package.json has no scripts and no list of development
// packages, which mean nothing to users: an installation of the unpacked folder would run `prepare`, and fail. The job that
// publishes compares the result with its own checkout: scripts/release/tarball.mjs.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { packedManifest, packedPage } from "./release/packed.mjs";

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
  const manifest = packedManifest(readFileSync("package.json", "utf8"));
  writeFileSync(join(staged, "package.json"), manifest);
  const { homepage, version } = JSON.parse(manifest);
  const paths = new Set(files.map(({ path }) => path));
  for (const page of [...paths].filter((path) => path.endsWith(".md"))) {
    const of = { isPacked: (path) => paths.has(path), homepage, version };
    writeFileSync(join(staged, page), packedPage(page, readFileSync(page, "utf8"), of));
  }
  const packed = npmPack(staged, "--pack-destination", resolve(destination));
  process.stdout.write(`${JSON.stringify(packed, null, 2)}\n`);
} finally {
  rmSync(staged, { recursive: true, force: true });
}
