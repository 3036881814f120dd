import fs, {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect, Server, type Socket } from "node:net";
import { basename, dirname } from "node:path";
import { silentLogger } from "../../src/logging/logger";
import { tryConnect } from "../../src/unix/unix-socket";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";
import { identityOf } from "../support/identity-of";
import { asOrdinaryUser } from "../support/ordinary-user";
import { createOwnedSocket, unusable, watchNames } from "../support/owned-socket";
import { expectNothingLeft } from "../support/resources";
import { createTempFolder } from "../support/temp-folder";

const NAME = "x.csi-reg.sock";

let socket: ReturnType<typeof createOwnedSocket>;
let path: string;
afterEach(() => socket.withdraw());
const folder = eachTest(createTempFolder);
beforeEach(() => {
  socket = createOwnedSocket();
  path = folder.at(NAME);
});

/** Once the dot-name is gone, which outlives its socket's birth by a moment. */
const filesAre = (...names: readonly string[]) =>
  eventually(() => expect(readdirSync(folder.path)).toEqual(names));

test("publish() binds under a dot-name with mode 0700, then shows the socket once", async () => {
  using seen = watchNames(folder.path);
  expect(await socket.publish(path)).toBe("gone");
  expect(lstatSync(path).isSocket()).toBe(true);
  expect(lstatSync(path).mode & 0o777).toBe(0o700);
  expect(await tryConnect(path)).toBeUndefined();
  expect(await socket.look(path)).toBe("ours");
  await filesAre(NAME);
  await eventually(() => expect(seen.all).toHaveLength(3));
  const dotName = expect.stringMatching(/^\.reg-[0-9a-z]{5}$/);
  expect(seen.all).toEqual([dotName, NAME, dotName]);
});

test("the socket has mode 0700 from its first accept on, and the umask stays", async () => {
  const before = process.umask(0);
  const { listen } = Server.prototype;
  const modes: unknown[] = [];
  const spy = jest.spyOn(Server.prototype, "listen").mockImplementation(function (this: Server, given) {
    const server = Reflect.apply(listen, this, [given]) as Server;
    const { path, exclusive } = given as unknown as { path: string; exclusive: boolean };
    modes.push(exclusive && statSync(path).mode & 0o777);
    return server;
  });
  try {
    await socket.publish(path);
    expect(modes).toEqual([0o700]);
    expect(process.umask()).toBe(0);
  } finally {
    spy.mockRestore();
    process.umask(before);
  }
});

describe("what it finds at its path", () => {
  test("a dead socket is replaced", async () => {
    await leaveDeadSocket(path);
    expect(await socket.look(path)).toBe("dead");
    expect(await socket.publish(path)).toBe("dead");
    expect(await socket.look(path)).toBe("ours");
    await filesAre(NAME);
  });

  test("a living socket is left alone, and replaced where that is asked for", async () => {
    await using _theirs = await startForeignSocket(path);
    const before = lstatSync(path).ino;
    expect(await socket.publish(path)).toBe("taken");
    expect(lstatSync(path).ino).toBe(before);
    expect(socket.path).toBeUndefined();
    expect(await socket.publish(path, { overLiving: true })).toBe("taken");
    expect(await socket.look(path)).toBe("ours");
    await filesAre(NAME);
  });

  test.each<[string, (path: string) => unknown]>([
    ["a regular file", (path) => writeFileSync(path, "precious")],
    ["a folder", (path) => mkdirSync(path)],
    ["a symbolic link", (path) => symlinkSync("somewhere", path)],
    ["a symbolic link to a living socket", (path) => symlinkSync(folder.at("living"), path)],
  ])("%s is refused and left alone", async (_what, make) => {
    await using _living = await startForeignSocket(folder.at("living"));
    make(path);
    const before = lstatSync(path).ino;
    expect(await socket.look(path)).toBe("blocked");
    const error = unusable(`${path}: ENOTSOCK: it exists but is not a socket`);
    await expect(socket.publish(path, { overLiving: true })).rejects.toEqual(error);
    expect(lstatSync(path).ino).toBe(before);
  });
});

describe("a path that cannot be", () => {
  test("has more than 107 bytes", async () => {
    const longest = folder.at("n".repeat(107 - Buffer.byteLength(folder.at("")) - 1));
    await socket.publish(longest);
    expect(await tryConnect(longest)).toBeUndefined();
    const error = unusable("ENAMETOOLONG: a unix socket path has at most 107 bytes, this one has 1");
    await expect(socket.publish(`${longest}n`)).rejects.toEqual(error);
    await expect(socket.publish(`${longest}n`)).rejects.toThrow(/: use a shorter directory$/);
    const name = "n".repeat(200);
    await expect(socket.publish(folder.at(name))).rejects.toThrow(
      /: its last part alone has 200: no directory helps, shorten that name/,
    );
  });

  test.each([
    ["a folder that is not there", "no", "ENOENT: the directory does not exist"],
    ["a file in the folder's place", "file", "ENOTDIR: part of the path is not a directory"],
  ])("%s", async (_what, directory, text) => {
    writeFileSync(folder.at("file"), "precious");
    await expect(socket.publish(folder.at(directory, NAME))).rejects.toEqual(unusable(text));
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

const OTHER_NAME = "y.csi-reg.sock";

describe("withdraw", () => {
  test("removes the file and stops listening, however often it was published", () =>
    expectNothingLeft(async () => {
      const socket = createOwnedSocket();
      for (let round = 0; round < 3; round++) await socket.publish(path);
      await socket.withdraw();
      await filesAre();
      expect(socket.path).toBeUndefined();
      await socket.withdraw();
    }));

  test("leaves another socket, or another file, that came to have our name", async () => {
    await socket.publish(path);
    await using _theirs = await startForeignSocket(path);
    expect(await socket.look(path)).toBe("taken");
    await socket.withdraw();
    expect(await tryConnect(path)).toBeUndefined();
    await socket.publish(path, { overLiving: true });
    rmSync(path);
    writeFileSync(path, "precious");
    await socket.withdraw();
    expect(readFileSync(path, "utf8")).toBe("precious");
  });

  test("leaves another socket, and no second name of it, where ours was to be hidden", async () => {
    await socket.publish(path);
    await using _theirs = await startForeignSocket(path);
    await socket.hide();
    expect(await tryConnect(path)).toBeUndefined();
    await filesAre(NAME);
  });

  test("leaves a socket that came when ours was closed, to which the file system may give its inode's number", async () => {
    await socket.publish(path);
    await filesAre(NAME);
    const { close } = Server.prototype;
    const theirs = new Server();
    const closing = jest.spyOn(Server.prototype, "close").mockImplementationOnce(function (this: Server) {
      Reflect.apply(close, this, []);
      rmSync(path, { force: true });
      return theirs.listen(path);
    });
    await socket.withdraw();
    expect(closing).toHaveBeenCalledTimes(1);
    expect(await tryConnect(path)).toBeUndefined();
    theirs.close();
  });

  test("succeeds where the file, or its directory, is gone already", async () => {
    mkdirSync(folder.at("d"));
    await socket.publish(folder.at("d", NAME));
    rmSync(folder.at("d"), { recursive: true });
    expect(await socket.look(folder.at("d", NAME))).toBe("gone");
    await socket.withdraw();
  });

  test("rejects where it may not remove the file; a retry and close() work", async () => {
    mkdirSync(folder.at("d"));
    chmodSync(folder.path, 0o755);
    const path = folder.at("d", NAME);
    await socket.publish(path);
    await eventually(() => expect(readdirSync(folder.at("d"))).toEqual([NAME]));
    await asOrdinaryUser(async () => expect(socket.withdraw()).rejects.toThrow(/permission denied/));
    expect(await socket.look(path)).toBe("ours");
    await socket.withdraw();
    expect(readdirSync(folder.at("d"))).toEqual([]);
    await socket.publish(path);
    await eventually(() => expect(readdirSync(folder.at("d"))).toEqual([NAME]));
    await asOrdinaryUser(async () => expect(socket.close()).rejects.toThrow(/permission denied/));
    expect(socket.path).toBeUndefined();
    expect(await tryConnect(path)).toMatchObject({ code: "ECONNREFUSED" });
  });
});

describe("publishing again", () => {
  test("replaces our own file atomically, and open connections stay", async () => {
    const connections: Socket[] = [];
    await using socket = createOwnedSocket((connection) => connections.push(connection));
    await socket.publish(path);
    const client = connect({ path });
    await eventually(() => expect(connections).toHaveLength(1));
    const before = identityOf(path);
    using seen = watchNames(folder.path);

    expect(await socket.publish(path)).toBe("ours");

    expect(identityOf(path)).not.toBe(before);
    await eventually(() => expect(seen.visible()).toEqual([NAME]));
    await socket.withdraw();
    connections[0]?.end("still here");
    expect((await client.setEncoding("utf8").toArray()).join("")).toBe("still here");
  });

  test("under another name removes the first one before: there are never two", async () => {
    await socket.publish(path);
    const full = Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    const unlink = jest.spyOn(fs, "unlinkSync").mockImplementationOnce(() => {
      throw full;
    });
    await expect(socket.publish(folder.at(OTHER_NAME))).rejects.toEqual(unusable("EIO"));
    unlink.mockRestore();
    await filesAre(NAME);
    using seen = watchNames(folder.path);
    expect(await socket.publish(folder.at(OTHER_NAME))).toBe("gone");
    await eventually(() => expect(seen.visible()).toEqual([NAME, OTHER_NAME]));
    expect(socket.path).toBe(folder.at(OTHER_NAME));
    await filesAre(OTHER_NAME);
  });

  test("that fails leaves the published socket as it was", async () => {
    await socket.publish(path);
    mkdirSync(folder.at(OTHER_NAME));
    await expect(socket.publish(folder.at(OTHER_NAME))).rejects.toEqual(unusable("is not a socket"));
    expect(await socket.look(path)).toBe("ours");
    expect(socket.path).toBe(path);
  });
});

test("a hanging file system does not count as another's socket, and leaves nothing when it goes on", () =>
  expectNothingLeft(async () => {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    for (const call of ["chmod", "link"] as const)
      jest.spyOn(fs.promises, call).mockImplementationOnce(() => held);
    const publishing = [path, folder.at(OTHER_NAME)].map((path) => createOwnedSocket().publish(path));
    for (const one of publishing) await expect(one).rejects.toEqual(unusable("ETIMEDOUT"));
    goOn();
    await filesAre();
    jest.restoreAllMocks();
  }));

test("an aborted signal keeps a waiting publish() from replacing a living socket", () =>
  expectNothingLeft(async () => {
    const stop = new AbortController();
    await using _theirs = await startForeignSocket(path);
    const before = identityOf(path);
    const publishing = socket.publish(path, { overLiving: true, signal: stop.signal });
    await eventually(() => expect(readdirSync(folder.path)).toHaveLength(2));
    stop.abort();
    await expect(publishing).rejects.toMatchObject({ name: "AbortError" });
    expect(identityOf(path)).toBe(before);
    await filesAre(NAME);
  }));

test("a signal that is aborted while the socket is made keeps it from becoming visible", () =>
  expectNothingLeft(async () => {
    const stop = new AbortController();
    jest.spyOn(fs.promises, "chmod").mockImplementationOnce(async () => stop.abort());
    await expect(socket.publish(path, { signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
    await filesAre();
    jest.restoreAllMocks();
  }));

/** A registration socket beside a dead one at `path`; each of its waits ends by hand. */
async function startBesideDeadSocket() {
  const folder = await createTempFolder();
  const path = folder.at("x.csi-reg.sock");
  await leaveDeadSocket(path);
  const { signal } = new AbortController();
  const waits: { readonly given: unknown[]; readonly end: () => void }[] = [];
  const wait = (...given: unknown[]) => new Promise<void>((end) => waits.push({ given, end }));
  jest.resetModules();
  jest.doMock("node:timers/promises", () => ({ setTimeout: wait }));
  const { createSocketFile } = await import("../../src/unix/socket-file");
  const waiting = () => eventually(() => expect(waits).not.toEqual([]));
  const pass = async (ms: number) => {
    await waiting();
    expect([waits[0]?.given[0], Object(waits[0]?.given[2]).signal === signal]).toEqual([ms, true]);
    waits.shift()?.end();
  };
  const socket = createSocketFile(() => {}, silentLogger);
  return { ...folder, path, socket, signal, waiting, pass };
}

test("a bound socket that listens a moment later is not taken for dead", async () => {
  await using beside = await startBesideDeadSocket();
  const looking = beside.socket.look(beside.path, beside.signal);
  await beside.waiting();
  await using _living = await startForeignSocket(beside.path);
  await beside.pass(150);
  expect(await looking).toBe("taken");
});

test("of two registrars that find a dead socket, one replaces it", async () => {
  await using beside = await startBesideDeadSocket();
  const { socket, path, signal } = beside;
  const publishing = socket.publish(path, { overLiving: false, signal });
  await beside.pass(150);
  await beside.waiting();
  rmSync(beside.path);
  await using _other = await startForeignSocket(beside.path);
  await beside.pass(100);
  expect(await publishing).toEqual({ kind: "taken" });
  expect(readdirSync(dirname(beside.path))).toEqual([basename(beside.path)]);
});
