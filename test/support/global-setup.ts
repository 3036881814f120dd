import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errnoOf } from "../../src/base/errors";
import { copyCli, DIST } from "./built-cli";

const ROOT = join(__dirname, "..", "..");
const CACHE = join(ROOT, "node_modules", ".cache", "registrar-under-test");
const MAKE_CODE_CACHES = [
  join(ROOT, "scripts", "code-cache.mjs"),
  join(__dirname, "code-cache-of-commands.cjs"),
];

/** Jest's global setup: a folder for what the test files of a run share, and the registrar that they start. */
export default function globalSetup(): void {
  const runFolder = mkdtempSync(join(tmpdir(), "registrar-run-"));
  process.env.REGISTRAR_RUN_FOLDER = runFolder;
  prepareCli(runFolder);
}

/**
 * Has the tests start the built CLI as the image has it, with V8's code cache, where no other registrar is to be tested.
 * Each of its processes takes two thirds of the time then. What is made is kept until something else is built.
 */
function prepareCli(runFolder: string): void {
  if (process.env.REGISTRAR_COMMAND || !existsSync(join(DIST, "cli.js"))) return;
  const name = `${process.version}-${hashOfInputs()}`;
  if (!existsSync(join(CACHE, name))) make(name);
  // A copy of the run's own: what is built or made while it runs changes nothing.
  cpSync(join(CACHE, name), join(runFolder, "cli"), { recursive: true });
  process.env.REGISTRAR_CLI = join(runFolder, "cli", "cli.js");
}

function hashOfInputs(): string {
  const parts = readdirSync(join(DIST, "cli")).map((name) => join(DIST, "cli", name));
  const hash = createHash("sha256");
  for (const file of [...MAKE_CODE_CACHES, join(DIST, "cli.js"), ...parts]) hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

/** Makes it in place of what was kept for this Node. */
function make(name: string): void {
  mkdirSync(CACHE, { recursive: true });
  const outdated = readdirSync(CACHE).filter((one) => one.startsWith(`${process.version}-`));
  const making = mkdtempSync(join(CACHE, "making-"));
  copyCli(making);
  for (const program of MAKE_CODE_CACHES)
    execFileSync(process.execPath, [program, join(making, "cli.js")], { stdio: "pipe" });
  for (const one of outdated) rmSync(join(CACHE, one), { recursive: true, force: true });
  try {
    renameSync(making, join(CACHE, name));
  } catch (error) {
    if (errnoOf(error) !== "ENOTEMPTY") throw error;
    rmSync(making, { recursive: true }); // Another run has made it meanwhile.
  }
}
