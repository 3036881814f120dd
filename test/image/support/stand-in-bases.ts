import { cpSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { copyProgram, librariesOf, whereIs } from "../../support/sandbox/program-files";

/** What the Dockerfile calls while it builds, and npm for itself. */
export const BUILD_PROGRAMS = ["sh", "env", "sed", "grep", "head", "cat", "chmod", "mkdir", "cp", "ln", "rm"];
/** A C library before 2.34 loads these when a host's name is looked up, so that ldd does not tell of them. */
const NAME_SERVICE = ["libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"];

/** A program's file, behind its symbolic links. */
const fileOf = (program: string) => realpathSync(whereIs(program) ?? program);

/** In place of `node:24-slim`: Node, npm, a shell and a few programs, all of this machine. */
export function makeBuildBase(root: string, node: string): void {
  copyProgram(node, root, "/usr/bin/node");
  for (const program of BUILD_PROGRAMS) copyProgram(fileOf(program), root, `/usr/bin/${program}`);
  symlinkSync("usr/bin", join(root, "bin"));
  for (const libc of librariesOf(node).filter((path) => /\/libc\.so/.test(path)))
    for (const library of NAME_SERVICE.map((name) => join(dirname(libc), name)).filter((path) =>
      existsSync(path),
    ))
      cpSync(library, join(root, library), { dereference: true });
  cpSync(dirname(dirname(fileOf("npm"))), join(root, "/usr/lib/npm"), { recursive: true });
  symlinkSync("../lib/npm/bin/npm-cli.js", join(root, "/usr/bin/npm"));
  makeAccounts(root, "/bin/sh");
}

/** In place of the distroless image: Node where that has it, the libraries that it needs, and nothing else. */
export function makeRuntimeBase(root: string, node: string): void {
  copyProgram(node, root, "/nodejs/bin/node");
  makeAccounts(root, "/sbin/nologin");
}

function makeAccounts(root: string, shell: string): void {
  for (const folder of ["etc", "root", "tmp"]) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, "etc", "passwd"), `root:x:0:0:root:/root:${shell}\n`);
  writeFileSync(join(root, "etc", "group"), "root:x:0:\n");
}
