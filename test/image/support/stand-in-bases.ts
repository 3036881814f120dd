import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { copyProgram, librariesOf, whereIs } from "../../support/sandbox/program-files";
import { BUILD_VARIABLES, type Buildah } from "./buildah";

export const BUILD_PROGRAMS = [
  ...["sh", "env", "sed", "grep", "head", "cat", "chmod", "mkdir", "cp", "ln", "rm", "dirname"],
  ...["strip", "dpkg-query"],
];
/** The packages of the libraries that the Dockerfile takes from its build base, because the runtime base lacks them. */
const ADDED_LIBRARIES = {
  libatomic1: "libatomic.so.1",
  "libgcc-s1": "libgcc_s.so.1",
  "libstdc++6": "libstdc++.so.6",
} as const;
/** A C library before 2.34 loads these when a host's name is looked up, so that ldd does not tell of them. */
const NAME_SERVICE = ["libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"];

export const BASE_DATA: readonly string[] = ["/usr/share/zoneinfo", "/etc/ssl/certs/ca-certificates.crt"];

/** What a build says of the image that it makes. */
export const LABELS = { VERSION: "v1.2.3", REVISION: "abc", SOURCE: "https://example.com/registrar" };

const fileOf = (program: string) => realpathSync(whereIs(program) ?? program);

/** Node of another architecture, with the folder of its libraries and a strip for it; programs besides Node stay this machine's. */
export interface ForeignNode {
  readonly node: string;
  readonly libraries: string;
  readonly strip: string;
}

type Libraries = readonly (readonly [source: string, target: string])[];

function librariesFor(node: string, foreign?: ForeignNode): Libraries {
  if (!foreign) return librariesOf(node).map((path) => [path, path]);
  const files = readdirSync(foreign.libraries).filter((name) => /^(?:ld-|lib).*\.so\.\d+$/.test(name));
  return files.map((name) => [
    join(foreign.libraries, name),
    /^ld-/.test(name) ? `/lib/${name}` : `/lib/aarch64-linux-gnu/${name}`,
  ]);
}

function copyLibraries(libraries: Libraries, root: string): void {
  for (const [source, target] of libraries) cpSync(source, join(root, target), { dereference: true });
}

/** In place of an image of Node's makers: Node, npm, a shell and a few programs, all of this machine. */
export function makeBuildBase(root: string, node: string): void {
  copyProgram(node, root, "/usr/bin/node");
  for (const program of BUILD_PROGRAMS) copyProgram(fileOf(program), root, `/usr/bin/${program}`);
  symlinkSync("usr/bin", join(root, "bin"));
  const libc = librariesOf(process.execPath).filter((path) => /\/libc\.so/.test(path));
  const nameService = libc.flatMap((path) => NAME_SERVICE.map((name) => join(dirname(path), name)));
  for (const library of nameService.filter((path) => existsSync(path)))
    cpSync(library, join(root, library), { dereference: true });
  cpSync(dirname(dirname(fileOf("npm"))), join(root, "/usr/lib/npm"), { recursive: true });
  symlinkSync("../lib/npm/bin/npm-cli.js", join(root, "/usr/bin/npm"));
  makeAccounts(root, "/bin/sh");
}

/** What `node:26-trixie` has besides, for our Dockerfile: three libraries, their entries in dpkg's list, and licences. */
function addLibraryPackages(root: string, libraries: Libraries): void {
  const libc = libraries.find(([source]) => /\/libc\.so/.test(source)) ?? ["", ""];
  const stanzas = Object.entries(ADDED_LIBRARIES).map(([name, file]) => {
    copyLibraries([[join(dirname(libc[0]), file), join("/usr/lib", basename(dirname(libc[1])), file)]], root);
    mkdirSync(join(root, "usr/share/doc", name), { recursive: true });
    writeFileSync(join(root, "usr/share/doc", name, "copyright"), "GPL-3 with GCC's exception\n");
    return `Package: ${name}\nStatus: install ok installed\nArchitecture: all\nVersion: 1\nMaintainer: -\nDescription: -\n`;
  });
  mkdirSync(join(root, "var/lib/dpkg"), { recursive: true });
  writeFileSync(join(root, "var/lib/dpkg/status"), stanzas.join("\n"));
  writeFileSync(join(root, "usr/LICENSE"), "Node's licence\n");
}

export function makeAccounts(root: string, shell: string): void {
  for (const folder of ["etc", "root", "tmp"]) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, "etc", "passwd"), `root:x:0:0:root:/root:${shell}\n`);
  writeFileSync(join(root, "etc", "group"), "root:x:0:\n");
}

/** As distroless has it; csi-sidecars is called by name. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The roots of the Dockerfile's two bases, in `folder`. The one for distroless has a C library, time zones and certificates. */
export function makeRegistrarBases(folder: string, node: string, foreign?: ForeignNode) {
  const [build, runtime] = [join(folder, "build-base"), join(folder, "runtime-base")];
  for (const base of [build, runtime]) mkdirSync(base, { recursive: true });
  makeBuildBase(build, foreign?.node ?? node);
  const libraries = librariesFor(node, foreign);
  addLibraryPackages(build, libraries);
  if (foreign) {
    copyLibraries(libraries, build);
    copyProgram(foreign.strip, build, "/usr/bin/strip");
  }
  makeAccounts(runtime, "/sbin/nologin");
  for (const path of BASE_DATA.filter((one) => existsSync(one)))
    cpSync(path, join(runtime, path), { recursive: true, verbatimSymlinks: true });
  const added: readonly string[] = Object.values(ADDED_LIBRARIES);
  copyLibraries(
    libraries.filter(([source]) => !added.includes(basename(source))),
    runtime,
  );
  return {
    build: { root: build, variables: { PATH: "/usr/bin", ...BUILD_VARIABLES } },
    runtime: { root: runtime, variables: { PATH } },
  };
}

export function buildRegistrar(buildah: Buildah, image: string, node: string, folder: string): void {
  const { build, runtime } = makeRegistrarBases(folder, node);
  buildah.imageOf(build.root, "localhost/build-base", build.variables);
  buildah.imageOf(runtime.root, "localhost/runtime-base", runtime.variables);
  buildah.build(image, {
    BUILD_IMAGE: "localhost/build-base",
    RUNTIME_IMAGE: "localhost/runtime-base",
    ...LABELS,
  });
}
