import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tryConnect } from "../../../src/unix/unix-socket";
import { eventually } from "../../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../../support/foreign-socket";
import { asOrdinaryUser } from "../../support/ordinary-user";
import { createOwnedSocket, unusable, watchNames } from "../../support/owned-socket";
import { expectNothingLeft } from "../../support/resources";
import { createTempFolder, type TempFolder } from "../../support/temp-folder";

const NAME = "x.csi-reg.sock";

let folder: TempFolder;
let path: string;
let socket: ReturnType<typeof createOwnedSocket>;
beforeEach(async () => {
  folder = await createTempFolder();
  path = folder.at(NAME);
  socket = createOwnedSocket();
});
afterEach(async () => {
  await socket.withdraw();
  await folder[Symbol.asyncDispose]();
});

/** Once the dot-name is gone, which outlives its socket's birth by a moment. */
const filesAre = (...names: readonly string[]) =>
  eventually(() => expect(readdirSync(folder.path)).toEqual(names));

test("publishes a listening socket for its owner only, and no other name stays", async () => {
  expect(readdirSync(folder.path)).toEqual([]);
  expect(await socket.publish(path)).toBe("gone");

  expect(lstatSync(path).isSocket()).toBe(true);
  expect(lstatSync(path).mode & 0o777).toBe(0o700);
  expect(await tryConnect(path)).toBeUndefined();
  expect(await socket.look(path)).toBe("ours");
  await filesAre(NAME);
});

test("is born under a dot-name, and shows once", async () => {
  using seen = watchNames(folder.path);
  await socket.publish(path);
  await filesAre(NAME);
  await eventually(() => expect(seen.all).toHaveLength(3));
  const dotName = expect.stringMatching(/^\.reg-[0-9a-z]{5}$/);
  expect(seen.all).toEqual([dotName, NAME, dotName]);
});

describe("what it finds at its path", () => {
  test("a dead socket is replaced", async () => {
    await leaveDeadSocket(path);
    expect(await socket.look(path)).toBe("dead");
    expect(await socket.publish(path)).toBe("dead");
    expect(await socket.look(path)).toBe("ours");
    await filesAre(NAME);
  });

  test("a living socket is left alone", async () => {
    await using _theirs = await startForeignSocket(path);
    const before = lstatSync(path).ino;
    expect(await socket.publish(path)).toBe("taken");
    expect(lstatSync(path).ino).toBe(before);
    expect(socket.path).toBeUndefined();
    await filesAre(NAME);
  });

  test("a living socket is replaced where that is asked for", async () => {
    await using _theirs = await startForeignSocket(path);
    expect(await socket.publish(path, { overLiving: true })).toBe("taken");
    expect(await socket.look(path)).toBe("ours");
    await filesAre(NAME);
  });

  test.each<[string, (path: string) => void]>([
    ["a regular file", (path) => writeFileSync(path, "precious")],
    ["a folder", (path) => mkdirSync(path)],
    ["a symbolic link", (path) => symlinkSync("somewhere", path)],
  ])("%s is refused and left alone", async (_what, make) => {
    make(path);
    const before = lstatSync(path).ino;
    expect(await socket.look(path)).toBe("blocked");
    await expect(socket.publish(path, { overLiving: true })).rejects.toEqual(
      unusable(`${path} exists but is not a socket`),
    );
    expect(lstatSync(path).ino).toBe(before);
    await filesAre(NAME);
  });

  test("a symbolic link to a living socket is refused too", async () => {
    await using _theirs = await startForeignSocket(folder.at("theirs"));
    symlinkSync("theirs", path);
    await expect(socket.publish(path)).rejects.toEqual(unusable("is not a socket"));
  });
});

describe("a path that cannot be", () => {
  test.each([107, 108])("%d bytes", async (bytes) => {
    const name = "n".repeat(bytes - Buffer.byteLength(folder.at("")) - 1);
    const path = folder.at(name);
    expect(Buffer.byteLength(path)).toBe(bytes);
    if (bytes === 107) {
      await socket.publish(path);
      expect(await tryConnect(path)).toBeUndefined();
      await filesAre(name);
    } else {
      await expect(socket.publish(path)).rejects.toEqual(
        unusable("has 108 bytes, a unix socket path may have 107"),
      );
      await filesAre();
    }
  });

  test("counts bytes, not characters", async () => {
    await expect(socket.publish(folder.at("ü".repeat(53)))).rejects.toEqual(unusable("may have 107"));
  });

  test("a folder that is not there", async () => {
    await expect(socket.publish(folder.at("no", NAME))).rejects.toEqual(
      unusable("ENOENT: the directory does not exist"),
    );
  });

  test("a file in the folder's place", async () => {
    writeFileSync(folder.at("file"), "precious");
    await expect(socket.publish(folder.at("file", NAME))).rejects.toEqual(unusable(folder.at("file", NAME)));
    expect(readFileSync(folder.at("file"), "utf8")).toBe("precious");
  });

  test("a folder that may not be written to", async () => {
    chmodSync(folder.path, 0o755);
    mkdirSync(folder.at("locked"), { mode: 0o555 });
    await asOrdinaryUser(async () => {
      await expect(socket.publish(folder.at("locked", NAME))).rejects.toEqual(
        unusable("EACCES: permission denied"),
      );
    });
    expect(readdirSync(folder.at("locked"))).toEqual([]);
  });

  test("leaves no listener behind", () =>
    expectNothingLeft(async () => {
      writeFileSync(path, "");
      const paths = [folder.at("no", NAME), path, folder.at("n".repeat(200))];
      await Promise.allSettled(paths.map((path) => socket.publish(path)));
    }));
});

test("leaves no listener behind, however often it publishes", () =>
  expectNothingLeft(async () => {
    for (let round = 0; round < 3; round++) await socket.publish(path);
    await socket.withdraw();
  }));
