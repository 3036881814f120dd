import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { Server } from "node:net";
import { bindDotSocket, sweepDotSockets } from "../../src/unix/dot-socket";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";
import { createTempFolder, type TempFolder } from "../support/temp-folder";

let folder: TempFolder;
beforeEach(async () => {
  folder = await createTempFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

const later = () => Date.now() + 60_000;

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

describe("sweepDotSockets", () => {
  test("removes what a killed process left", async () => {
    await leaveDeadSocket(folder.at(".reg-0a1b2"));
    await sweepDotSockets(folder.path, later);
    expect(existsSync(folder.at(".reg-0a1b2"))).toBe(false);
  });

  test("leaves a dead socket that is young: its owner may not listen yet", async () => {
    await leaveDeadSocket(folder.at(".reg-0a1b2"));
    await sweepDotSockets(folder.path);
    expect(existsSync(folder.at(".reg-0a1b2"))).toBe(true);
  });

  test("leaves a living socket", async () => {
    await using _living = await startForeignSocket(folder.at(".reg-0a1b2"));
    await sweepDotSockets(folder.path, later);
    expect(existsSync(folder.at(".reg-0a1b2"))).toBe(true);
  });

  test.each(["x.csi-reg.sock", ".other", ".reg-0a1b", ".reg-0a1b23", ".reg-ABCDE"])(
    "leaves a dead socket by the name of %s",
    async (name) => {
      await leaveDeadSocket(folder.at(name));
      await sweepDotSockets(folder.path, later);
      expect(existsSync(folder.at(name))).toBe(true);
    },
  );

  test.each(["no such folder", "a file"])("does not mind %s", async (name) => {
    writeFileSync(folder.at("a file"), "");
    await sweepDotSockets(folder.at(name), later);
  });

  test.each<[string, (path: string) => void]>([
    ["folder", (path) => mkdirSync(path)],
    ["regular file", (path) => writeFileSync(path, "precious")],
  ])("leaves a %s by such a name", async (_what, make) => {
    make(folder.at(".reg-0a1b2"));
    await sweepDotSockets(folder.path, later);
    expect(existsSync(folder.at(".reg-0a1b2"))).toBe(true);
  });
});
