import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type TempFolder = Awaited<ReturnType<typeof createTempFolder>>;

/** Makes a folder that is removed, with all that is in it, when it is disposed of. Its path is short enough for sockets. */
export async function createTempFolder() {
  const path = await mkdtemp(join(tmpdir(), "r-"));
  return {
    path,
    at: (...names: readonly string[]) => join(path, ...names),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
