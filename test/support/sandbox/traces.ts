import { lstatSync, mkdirSync, readdirSync, rmdirSync, watch } from "node:fs";
import { basename, join } from "node:path";

/** Everything below a root, with what a write changes; what was made and removed again leaves its time on the folder. */
export function tracesIn(root: string): readonly string[] {
  return ["", ...readdirSync(root, { recursive: true, encoding: "utf8" }).sort()].map((path) => {
    const { mode, size, ino, ctimeNs } = lstatSync(join(root, path), { bigint: true });
    return [`/${path}`, mode.toString(8), size, ino, ctimeNs].join(" ");
  });
}

export function watchNames(folder: string) {
  const names = new Set<string>();
  const last = join(folder, "the-end");
  const watcher = watch(folder);
  const done = new Promise<void>((resolve, reject) => {
    watcher.on("error", reject).on("change", (_event, name) => {
      if (name === basename(last)) resolve();
      else names.add(String(name));
    });
  });
  return {
    /** All of them, when all that happened is noted. */
    end: async (): Promise<readonly string[]> => {
      // Events come in order: what is before this one has been noted when it is.
      mkdirSync(last);
      await done;
      rmdirSync(last);
      return [...names].sort();
    },
    [Symbol.dispose]: () => watcher.close(),
  };
}
