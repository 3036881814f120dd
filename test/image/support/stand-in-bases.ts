import { cpSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { copyProgram, librariesOf, whereIs } from "../../support/sandbox/program-files";
import { BUILD_VARIABLES, type Buildah } from "./buildah";

/** What the Dockerfile calls while it builds, and npm for itself. */
export const BUILD_PROGRAMS = ["sh", "env", "sed", "grep", "head", "cat", "chmod", "mkdir", "cp", "ln", "rm"];
/** A C library before 2.34 loads these when a host's name is looked up, so that ldd does not tell of them. */
const NAME_SERVICE = ["libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"];

/** A program's file, behind its symbolic links. */
const fileOf = (program: string) => realpathSync(whereIs(program) ?? program);

/** In place of `node:26-slim`: Node, npm, a shell and a few programs, all of this machine. */
export function makeBuildBase(root: string, node: string): void {
  copyProgram(node, root, "/usr/bin/node");
  for (const program of BUILD_PROGRAMS) copyProgram(fileOf(program), root, `/usr/bin/${program}`);
  symlinkSync("usr/bin", join(root, "bin"));
  const libc = librariesOf(node).filter((path) => /\/libc\.so/.test(path));
  const nameService = libc.flatMap((path) => NAME_SERVICE.map((name) => join(dirname(path), name)));
  for (const library of nameService.filter((path) => existsSync(path)))
    cpSync(library, join(root, library), { dereference: true });
  cpSync(dirname(dirname(fileOf("npm"))), join(root, "/usr/lib/npm"), { recursive: true });
  symlinkSync("../lib/npm/bin/npm-cli.js", join(root, "/usr/bin/npm"));
  makeAccounts(root, "/bin/sh");
}

function makeAccounts(root: string, shell: string): void {
  for (const folder of ["etc", "root", "tmp"]) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, "etc", "passwd"), `root:x:0:0:root:/root:${shell}\n`);
  writeFileSync(join(root, "etc", "group"), "root:x:0:\n");
}

/**
 * Builds the registrar's image by its Dockerfile from stand-in bases, which stay in `folder`. The one for distroless has Node
 * where that has it, the libraries that Node needs, and nothing else.
 */
export function buildRegistrar(buildah: Buildah, image: string, node: string, folder: string): void {
  const [build, runtime] = [join(folder, "build-base"), join(folder, "runtime-base")];
  for (const base of [build, runtime]) mkdirSync(base);
  makeBuildBase(build, node);
  makeAccounts(runtime, "/sbin/nologin");
  copyProgram(node, runtime, "/nodejs/bin/node");
  buildah.imageOf(build, "localhost/build-base", { PATH: "/usr/bin", ...BUILD_VARIABLES });
  buildah.imageOf(runtime, "localhost/runtime-base", { PATH: "/nodejs/bin" });
  buildah.build(image, {
    BUILD_IMAGE: "localhost/build-base",
    RUNTIME_IMAGE: "localhost/runtime-base",
    ...{ VERSION: "v1.2.3", REVISION: "abc", SOURCE: "https://example.com/registrar" },
  });
}
