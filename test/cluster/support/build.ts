import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** All of Kubernetes and etcd; what runs in pods. */
export type Program = "kubernetes" | "podprogram";

/** The Kubernetes release that `program/go.mod` names. */
export const KUBERNETES_VERSION = "1.36.3";
export const BIN = join(__dirname, "..", "bin");
const SOURCES = join(__dirname, "..", "program");
const VERSION_PACKAGE = "k8s.io/component-base/version";
const LINKER_FLAGS = [
  "-s",
  "-w",
  `-X ${VERSION_PACKAGE}.gitVersion=v${KUBERNETES_VERSION}`,
  `-X ${VERSION_PACKAGE}.gitMajor=1`,
  `-X ${VERSION_PACKAGE}.gitMinor=${KUBERNETES_VERSION.split(".")[1]}`,
].join(" ");

const run = promisify(execFile);

/** Where {@link buildPrograms} puts a program. */
export const programPath = (program: Program): string => join(BIN, program);

/**
 * Builds Kubernetes with etcd, and what runs in pods, or one of them, unless the very same sources were built before.
 * Kubernetes takes about half an hour on two cores from nothing; `announce` is called when a build starts.
 */
export async function buildPrograms(
  announce: (text: string) => void,
  programs: readonly Program[] = ["kubernetes", "podprogram"],
): Promise<void> {
  const goVersion = await go(["env", "GOVERSION"]).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new Error("Go is needed to build Kubernetes: no go command is in PATH");
  });
  const flags = ["-mod=readonly", "-trimpath", "-buildvcs=false", `-ldflags=${LINKER_FLAGS}`];
  for (const program of programs) {
    const stamp = join(BIN, `${program}.sha256`);
    const inputs = await hashInputs(program, [goVersion, ...flags]);
    if ((await readFile(stamp, "utf8").catch(() => "")) === inputs) continue;
    const patience =
      program === "kubernetes" ? `, of ${KUBERNETES_VERSION}: half an hour the first time` : "";
    announce(`building the program ${program} with ${goVersion}${patience}`);
    await mkdir(BIN, { recursive: true });
    await go(["build", ...flags, "-o", programPath(program), `./${program}`]);
    await writeFile(stamp, inputs);
  }
}

async function hashInputs(program: Program, command: readonly string[]): Promise<string> {
  const files = (await readdir(SOURCES, { recursive: true })).filter(
    (name) => /^go\.(mod|sum)$/.test(name) || (name.startsWith(`${program}/`) && name.endsWith(".go")),
  );
  const hash = createHash("sha256").update(command.join("\0"));
  for (const name of files.sort()) hash.update(`\0${name}\0`).update(await readFile(join(SOURCES, name)));
  return hash.digest("hex");
}

/** One go command in the programs' folder: its trimmed output. Rejects with go's own words. */
async function go(args: readonly string[]): Promise<string> {
  const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };
  const { stdout } = await run("go", args, { cwd: SOURCES, env, maxBuffer: 1 << 24 });
  return stdout.trim();
}
