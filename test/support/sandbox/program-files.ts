import { spawnSync } from "node:child_process";
import { chmodSync, cpSync } from "node:fs";
import { basename, join } from "node:path";

/** Where the shell finds a program; undefined where it finds none. */
export function whereIs(program: string): string | undefined {
  const { stdout } = spawnSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" });
  return stdout?.trim() || undefined;
}

/** The shared libraries that a program loads, and the loader, by absolute path; none where it is linked statically. */
export function librariesOf(program: string): readonly string[] {
  const { stdout, status } = spawnSync("ldd", [program], { encoding: "utf8" });
  return Array.from((status === 0 ? stdout : "").matchAll(/(?:^|=>)\s*(\/\S+)/gm), ([, path = ""]) => path);
}

/** Copies a program into the root folder as `path`, and its libraries to where the loader looks for them. */
export function copyProgram(program: string, root: string, path: string): void {
  copy(program, join(root, path));
  for (const library of librariesOf(program)) copy(library, join(root, library));
}

/** Copies a program and its libraries into one folder; the words that call it by its own loader, when that is mounted as `at`. */
export function copyPortable(program: string, folder: string, at: string): readonly string[] {
  const files = [program, ...librariesOf(program)];
  for (const file of files) copy(file, join(folder, basename(file)));
  const called = join(at, basename(program));
  const loader = files.map((file) => basename(file)).find((name) => /^ld[-.]/.test(name));
  return loader === undefined ? [called] : [join(at, loader), "--library-path", at, called];
}

function copy(file: string, to: string): void {
  cpSync(file, to, { dereference: true });
  chmodSync(to, 0o755);
}
