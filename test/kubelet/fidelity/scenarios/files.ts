import { execFile } from "node:child_process";
import { unlinkSync, writeFileSync } from "node:fs";
import { chmod, link, mkdir, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { Scripts } from "../scripted-node";

const run = promisify(execFile);

/** What counts as a plugin's socket, and when kubelet sees it. */
export const files: Scripts = {
  "ignores a name with a leading dot until it has none": async (node) => {
    await node.driver();
    const registrar = await node.registrar({ name: ".a.sock" });
    await node.settled();
    await rename(node.at(".a.sock"), node.at("a.sock"));
    await registrar.registered();
  },
  "ignores files that are no sockets until one is there": async (node) => {
    await node.driver();
    await writeFile(node.at("a.sock"), "");
    await symlink(node.at("nowhere"), node.at("dangling"));
    await run("mkfifo", [node.at("pipe")]);
    await node.settled();
    await rm(node.at("a.sock"));
    await node.accepted();
  },
  "finds a folder with a socket, and one that comes into it, until the folder goes": async (node) => {
    await node.driver({ name: "x.csi" });
    await node.driver({ name: "y.csi" });
    await mkdir(node.elsewhere("folder", "in", "it"), { recursive: true });
    const first = await node.registrar({ name: "../folder/in/it/a.sock" });
    await rename(node.elsewhere("folder"), node.at("folder"));
    await first.registered();
    const second = await node.accepted({ name: "folder/in/b.sock", info: { name: "y.csi" } });
    await second.close();
    await node.deregistered("y.csi", "folder/in/b.sock");
    await rm(node.at("folder"), { recursive: true });
    await node.deregistered("x.csi", "folder/in/it/a.sock");
  },
  "finds a folder with a leading dot in its first look only": async (node) => {
    await node.driver();
    await mkdir(node.elsewhere("folder"));
    const registrar = await node.registrar({ name: "../folder/a.sock" });
    await rename(node.elsewhere("folder"), node.at(".folder"));
    await node.settled();
    await node.restart();
    await registrar.registered();
  },
  "looks at what is there when it starts, at symbolic links by its release": async (node) => {
    await node.driver();
    await node.registrar({ name: "../elsewhere.sock" });
    await node.whileDown(async () => {
      await symlink(node.elsewhere("elsewhere.sock"), node.at("a.sock"));
      await symlink(node.at("nowhere"), node.at("dangling"));
      await writeFile(node.at("b.sock"), "");
    });
    await node.settled();
  },
  "follows a symbolic link to a socket until the link is removed": async (node) => {
    await node.driver();
    const registrar = await node.registrar({ name: "../elsewhere.sock" });
    await symlink(node.elsewhere("elsewhere.sock"), node.at("a.sock"));
    await registrar.registered();
    await unlink(node.at("a.sock"));
    await node.deregistered();
  },
  "deregisters a driver in whose socket's place a file is written": async (node) => {
    await node.registered();
    unlinkSync(node.at("a.sock"));
    writeFileSync(node.at("a.sock"), "");
    await node.deregistered();
  },
  "does not notice that a socket was renamed away, and refuses it under its new name": async (node) => {
    await node.registered();
    await rename(node.at("a.sock"), node.at("b.sock"));
    await node.failed("b.sock");
    await unlink(node.at("b.sock"));
    await node.settled();
  },
  "keeps a driver whose socket is renamed out of its directory, until another one comes and goes": async (
    node,
  ) => {
    await node.registered();
    await rename(node.at("a.sock"), node.elsewhere("a.sock"));
    await node.settled();
    const second = await node.accepted();
    await second.close();
    await node.settled();
  },
  "ignores a symbolic link to a folder that comes later": async (node) => {
    await node.driver();
    await mkdir(node.elsewhere("folder"));
    await node.registrar({ name: "../folder/a.sock" });
    await symlink(node.elsewhere("folder"), node.at("link"));
    await node.settled();
  },
  "ignores a symbolic link to a folder in its first look": async (node) => {
    await node.driver();
    await mkdir(node.elsewhere("folder"));
    await node.registrar({ name: "../folder/a.sock" });
    await node.whileDown(() => symlink(node.elsewhere("folder"), node.at("link")));
    await node.settled();
  },
  "takes a chmod for no creation": async (node) => {
    await node.registered();
    await chmod(node.at("a.sock"), 0o700);
    await node.settled();
  },
  "deregisters a driver whose socket keeps a hidden name": async (node) => {
    await node.registered();
    await link(node.at("a.sock"), node.at(".out"));
    await unlink(node.at("a.sock"));
    await node.deregistered();
  },
  "registers once more a socket that gets a second name": async (node) => {
    await node.registered();
    await link(node.at("a.sock"), node.at("b.sock"));
    await node.failed("b.sock");
  },
};
