import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { leaveDeadSocket } from "../support/foreign-socket";
import { identityOf } from "../support/identity-of";
import { DRIVER, nodeTest, onNode, registered, type TestNode } from "./support/node";

/** A folder in which the registration socket's path has this many bytes. */
function folderFor(node: TestNode, bytes: number): string {
  const parent = dirname(node.pluginDir);
  const rest = bytes - Buffer.byteLength(join(parent, "/x", `/${DRIVER}-reg.sock`)) + 1;
  const folder = join(parent, "d".repeat(rest));
  mkdirSync(folder);
  expect(Buffer.byteLength(join(folder, `${DRIVER}-reg.sock`))).toBe(bytes);
  return folder;
}

nodeTest("a socket path of 107 bytes works", async (node) => {
  await node.driver();
  const pluginDir = folderFor(node, 107);
  const kubelet = await node.kubelet({ pluginRegistrationPath: pluginDir });
  node.registrar(`--plugin-registration-path=${pluginDir}`);
  await registered(kubelet);
});

nodeTest("a socket path of 108 bytes: exit code 1 with both lengths, and nothing is left", async (node) => {
  await node.driver();
  const pluginDir = folderFor(node, 108);
  const registrar = node.registrar(`--plugin-registration-path=${pluginDir}`);
  expect(await registrar.exit()).toEqual({ code: 1, signal: null });
  const { fields } = await registrar.line("Failed to listen on socket");
  expect(fields.err).toMatch(/has 108 bytes.* 107/);
  expect(readdirSync(pluginDir)).toEqual([]);
});

nodeTest("a socket that a killed registrar left behind is replaced", async (node) => {
  await node.driver();
  await leaveDeadSocket(node.socketPath);
  const dead = identityOf(node.socketPath);
  const kubelet = await node.kubelet();
  const registrar = node.registrar();
  await registered(kubelet);
  expect(identityOf(node.socketPath)).not.toBe(dead);
  expect((await registrar.line("Registration Server started")).fields.found).toBe("dead");
});

const FOREIGN: readonly (readonly [what: string, make: (path: string) => void])[] = [
  ["a file", (path) => writeFileSync(path, "mine")],
  ["a folder", (path) => mkdirSync(path)],
  ["a symlink to a file", (path) => symlinkSync("/etc/hostname", path)],
  ["a symlink to nothing", (path) => symlinkSync("/nowhere", path)],
];

test.each(FOREIGN)(
  "%s in the socket's place is left alone: exit code 1",
  onNode(async (node, _, make) => {
    await node.driver();
    make(node.socketPath);
    const before = describe(node.socketPath);
    const registrar = node.registrar();
    expect(await registrar.exit()).toEqual({ code: 1, signal: null });
    expect((await registrar.line("Failed to listen on socket")).fields.err).toContain("is not a socket");
    expect(describe(node.socketPath)).toEqual(before);
    expect(node.files()).toEqual([`${DRIVER}-reg.sock`]);
  }),
);

function describe(path: string): unknown {
  const stats = lstatSync(path);
  const content = stats.isFile() ? readFileSync(path, "utf8") : stats.isSymbolicLink() && readlinkSync(path);
  return { ino: stats.ino, mode: stats.mode, mtimeMs: stats.mtimeMs, content };
}

test.each([
  ["is not there", "/nowhere/at/all", /ENOENT.*is it mounted/],
  ["is a file", "/etc/hostname", /hostname/],
])(
  "a plugin registration directory that %s: exit code 1",
  onNode(async (node, _, directory, reason) => {
    await node.driver();
    const registrar = node.registrar(`--plugin-registration-path=${directory}`);
    expect(await registrar.exit()).toEqual({ code: 1, signal: null });
    expect((await registrar.line("Failed to listen on socket")).fields.err).toMatch(reason);
  }),
);
