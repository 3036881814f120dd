import { readdirSync, readFileSync, readlinkSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { leaveDeadSocket } from "../support/foreign-socket";
import { identityOf } from "../support/identity-of";
import { DRIVER, nodeTest, refused, registered } from "./support/node";

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

nodeTest("a symlink in the socket's place is left alone: exit code 1", async (node) => {
  await node.driver();
  symlinkSync("/etc/hostname", node.socketPath);
  const registrar = node.registrar();
  expect(await registrar.exit()).toEqual({ code: 1, signal: null });
  expect((await registrar.line("Failed to listen on socket")).fields.err).toContain("is not a socket");
  expect(readlinkSync(node.socketPath)).toBe("/etc/hostname");
  expect(node.files()).toEqual([`${DRIVER}-reg.sock`]);
});

nodeTest("a plugin registration directory that is not there: exit code 1", async (node) => {
  await node.driver();
  const registrar = node.registrar("--plugin-registration-path=/nowhere/at/all");
  expect(await registrar.exit()).toEqual({ code: 1, signal: null });
  expect((await registrar.line("Failed to listen on socket")).fields.err).toMatch(/ENOENT.*is it mounted/);
});

nodeTest(
  "a driver whose name would lead out of the directory: exit code 1, nothing created",
  async (node) => {
    await node.driver({ name: "../evil" });
    const before = readdirSync(dirname(node.pluginDir));
    const registrar = node.registrar(`--termination-log=${node.terminationLogPath}`);
    expect(await registrar.exit()).toEqual({ code: 1, signal: null });
    const errors = registrar.lines().filter(({ severity }) => severity === "E");
    expect(errors.map(({ text }) => text)).toEqual([expect.stringContaining("CSI driver name")]);
    expect(readFileSync(node.terminationLogPath, "utf8")).toContain("CSI driver name");
    expect(readdirSync(dirname(node.pluginDir))).toEqual(before);
    expect(node.files()).toEqual([]);
  },
);

/** The API server, which decides, allows less than the specification: kubelet refuses it. */
nodeTest("a driver whose name is against the specification is warned of and announced", async (node) => {
  const name = 'ümlaut %s{"a":"b"}';
  await node.driver({ name });
  const kubelet = await node.kubelet();
  const registrar = node.registrar();
  expect((await refused(kubelet, name)).socketPath).toBe(join(node.pluginDir, `${name}-reg.sock`));
  expect((await registrar.exit()).code).toBe(1);
  expect(registrar.lines().filter(({ severity }) => severity === "W")).toHaveLength(1);
});
