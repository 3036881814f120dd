import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A fresh folder that is gone, with all that is in it, when its owner is disposed of. Its path is short: sockets go
 * here.
 */
export interface TempFolder extends AsyncDisposable {
  readonly path: string;
  /** The path of something in it. */
  readonly at: (...names: readonly string[]) => string;
}

export async function createTempFolder(): Promise<TempFolder> {
  const path = await mkdtemp(join(tmpdir(), "r-"));
  return {
    path,
    at: (...names) => join(path, ...names),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
