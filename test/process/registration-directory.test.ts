import { chmodSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeTest, onNode, registered } from "../end-to-end/support/node";
import { insideOf, registrarIn, type Surroundings } from "../end-to-end/support/surroundings";

const FAILED = "Failed to listen on socket";

/** Where nothing can be made: what the log and the exit code say, as the official registrar's do. */
test.each<[what: string, how: Surroundings, err: RegExp]>([
  [
    "a file system without a free inode",
    { mounts: true, script: 'mount -t tmpfs -o nr_inodes=1 tmpfs "$1"' },
    /ENOSPC: no space left on its file system/,
  ],
  [
    "a read-only mount",
    { mounts: true, script: 'mount --bind "$1" "$1"; mount -o remount,bind,ro,nosuid,nodev "$1"' },
    /EROFS: the directory is mounted read-only/,
  ],
  [
    "a folder in which we may not write",
    { asOrdinaryUser: true, script: 'chmod 0500 "$1"' },
    /EACCES: permission denied: it must be a directory that this user can write to/,
  ],
  [
    "a folder that we may not enter",
    { asOrdinaryUser: true, script: 'chmod 0 "$1"' },
    /cannot be read|permission denied/,
  ],
])(
  "%s ends with exit code 1 and the reason, and leaves nothing",
  onNode(async (node, _what, how, err) => {
    await node.driver();
    const registrar = registrarIn(node, how);
    expect(await registrar.exit()).toEqual({ code: 1, signal: null });
    expect((await registrar.line(FAILED)).fields.err).toMatch(err);
    chmodSync(node.pluginDir, 0o700);
    expect(node.files()).toEqual([]);
  }),
);

nodeTest("on a full file system the publication is tried again until there is room", async (node) => {
  await node.driver();
  // One inode is the folder's, one the socket's, and one counts for a moment as its second name.
  const registrar = registrarIn(node, { mounts: true, script: 'mount -t tmpfs -o nr_inodes=3 tmpfs "$1"' });
  await registrar.reached("listening");
  const folder = insideOf(registrar, node.pluginDir);
  await registered(await node.kubelet({ pluginRegistrationPath: folder }));

  registrar.kill("SIGSTOP");
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  // A removed socket keeps its inode while a process listens on it.
  expect(() => {
    for (let number = 0; ; number++) writeFileSync(join(folder, `filler-${number}`), "");
  }).toThrow(/ENOSPC/);
  registrar.kill("SIGCONT");
  expect((await registrar.line(FAILED)).fields.err).toMatch(/ENOSPC/);
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  await registrar.reached("registered", 2);
});
