import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { attempt } from "../../src/base/errors";

const openFuse = () => openSync("/dev/fuse", "r+");

export function mayMount(): boolean {
  const fuse = attempt(openFuse);
  if (fuse === undefined) return false;
  closeSync(fuse);
  return spawnSync("unshare", ["--mount", "true"]).status === 0;
}

/** How long file calls go by the mounts that they have read. */
const MOUNTS_VALID_MS = 10;

/** Mounts a FUSE file system whose server never answers, until it is disposed of. File calls of this process know it. */
export function mountHanging(directory: string): Disposable {
  const fuse = openFuse();
  const options = "fd=3,rootmode=40000,user_id=0,group_id=0";
  const command = ["--internal-only", "--types", "fuse", "--options", options, "none", directory];
  const { status, stderr } = spawnSync("mount", command, { stdio: ["ignore", "ignore", "pipe", fuse] });
  if (status !== 0) throw new Error(`cannot mount on ${directory}: ${stderr}`);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, MOUNTS_VALID_MS);
  return {
    [Symbol.dispose]: () => {
      spawnSync("umount", ["--lazy", directory]);
      closeSync(fuse); // The kernel fails the calls that hang.
    },
  };
}
