import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { programFolder } from "./versions";

export type Program = "kubelet" | "csidriver" | "probe" | "manifestcheck";

const run = promisify(execFile);
const binFolder = join(__dirname, "..", "bin");

/** Where {@link buildPrograms} puts a program. */
export function programPath(program: Program, version: string): string {
  return join(binFolder, version, program);
}

/**
 * Builds what there is to build for one kubelet release, unless the very same inputs were built before.
 * A build from nothing takes about 100 s on two cores; `announce` is told when one starts.
 */
export async function buildPrograms(version: string, announce: (text: string) => void): Promise<void> {
  const goVersion = await checkGo(version);
  const folder = join(binFolder, version);
  const stamp = join(folder, "inputs.sha256");
  const build = ["build", ...goFlags(version), "-trimpath", "-ldflags=-s -w", "-o", `${folder}/`, "./..."];
  const inputs = await hashInputs(version, [goVersion, ...build]);
  if ((await readFile(stamp, "utf8").catch(() => "")) === inputs) return;
  announce(`building kubelet ${version} with ${goVersion}: minutes the first time`);
  await mkdir(folder, { recursive: true });
  await go(build);
  await writeFile(stamp, inputs);
}

/**
 * The release's own modules, and a build tag for each minor release up to it, as Go has go1.1 to go1.N: a file for
 * `kubelet1.30` is for that kubelet and all later ones.
 */
function goFlags(version: string): readonly string[] {
  const minor = Number(version.split(".")[1]);
  const tags = Array.from({ length: minor }, (_, index) => `kubelet1.${index + 1}`);
  return ["-mod=readonly", `-modfile=versions/${version}.mod`, `-tags=${tags.join()}`, "-buildvcs=false"];
}

async function checkGo(version: string): Promise<string> {
  const text = await readFile(join(programFolder, "versions", `${version}.mod`), "utf8");
  const wanted = /^go (\S+)$/m.exec(text)?.[1] ?? "1.20";
  const found = await go(["env", "GOVERSION"]).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new Error(`Go ${wanted} or newer is needed to build kubelet ${version}: no go command is in PATH`);
  });
  if (isOlder(found.replace(/^go/, ""), wanted)) {
    throw new Error(
      `Go ${wanted} or newer is needed to build kubelet ${version}: the one in PATH is ${found}`,
    );
  }
  return found;
}

function isOlder(found: string, wanted: string): boolean {
  const [foundMajor = 0, foundMinor = 0] = found.split(".").map(Number.parseFloat);
  const [wantedMajor = 0, wantedMinor = 0] = wanted.split(".").map(Number.parseFloat);
  return foundMajor !== wantedMajor ? foundMajor < wantedMajor : foundMinor < wantedMinor;
}

async function hashInputs(version: string, command: readonly string[]): Promise<string> {
  const files = (await readdir(programFolder, { recursive: true })).filter(
    (name) => name.endsWith(".go") || name.startsWith(join("versions", `${version}.`)),
  );
  const hash = createHash("sha256").update(command.join("\0"));
  for (const name of files.sort()) {
    hash.update(`\0${name}\0`).update(await readFile(join(programFolder, name)));
  }
  return hash.digest("hex");
}

/** One go command in the program's folder: its trimmed output. Rejects with go's own words. */
async function go(args: readonly string[]): Promise<string> {
  const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };
  const { stdout } = await run("go", args, { cwd: programFolder, env, maxBuffer: 1 << 24 });
  return stdout.trim();
}
