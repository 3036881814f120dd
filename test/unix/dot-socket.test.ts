import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { Server } from "node:net";
import { bindDotSocket, sweepDotSockets } from "../../src/unix/dot-socket";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";
import { createTempFolder, type TempFolder } from "../support/temp-folder";

let folder: TempFolder;
beforeEach(async () => {
  folder = await createTempFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

const { signal } = new AbortController();

test("a socket is its owner's only from the moment at which it accepts, and the umask stays", async () => {
  const before = process.umask(0);
  const { listen } = Server.prototype;
  const modes: number[] = [];
  const spy = jest.spyOn(Server.prototype, "listen").mockImplementation(function (this: Server, given) {
    const server = Reflect.apply(listen, this, [given]) as Server;
    modes.push(statSync((given as unknown as { path: string }).path).mode & 0o777);
    return server;
  });
  try {
    const { server } = await bindDotSocket(folder.path, () => {});
    expect(modes).toEqual([0o700]);
    expect(process.umask()).toBe(0);
    server.close();
  } finally {
    spy.mockRestore();
    process.umask(before);
  }
});

test("sweeps what a killed process left; nothing else by such a name, and no other name", async () => {
  await leaveDeadSocket(folder.at(".reg-0a1b2"));
  await using _living = await startForeignSocket(folder.at(".reg-11111"));
  mkdirSync(folder.at(".reg-22222"));
  writeFileSync(folder.at(".reg-33333"), "precious");
  const others = [".other", ".reg-0a1b", ".reg-0a1b23", ".reg-ABCDE", "x.csi-reg.sock"];
  for (const name of others) await leaveDeadSocket(folder.at(name));
  await sweepDotSockets(folder.path, signal, 1);
  const kept = [".reg-11111", ".reg-22222", ".reg-33333", ...others].sort();
  expect(readdirSync(folder.path).sort()).toEqual(kept);
  await sweepDotSockets(folder.at("away"), signal, 1);
});
