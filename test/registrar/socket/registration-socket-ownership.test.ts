import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tryConnect } from "../../../src/unix/unix-socket";
import { eventually } from "../../support/eventually";
import { startForeignSocket } from "../../support/foreign-socket";
import { identityOf } from "../../support/identity-of";
import { asOrdinaryUser } from "../../support/ordinary-user";
import { createOwnedSocket, unusable, watchNames } from "../../support/owned-socket";
import { expectNothingLeft } from "../../support/resources";
import { createTempFolder, type TempFolder } from "../../support/temp-folder";

const NAME = "x.csi-reg.sock";
const OTHER_NAME = "y.csi-reg.sock";

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

describe("withdraw", () => {
  test("removes the file and stops listening", () =>
    expectNothingLeft(async () => {
      const socket = createOwnedSocket();
      await socket.publish(path);
      await socket.withdraw();
      expect(readdirSync(folder.at(""))).toEqual([]);
      expect(socket.path).toBeUndefined();
      await socket.withdraw();
    }));

  test("leaves another socket that came to have our name", async () => {
    await socket.publish(path);
    await using _theirs = await startForeignSocket(path);
    expect(await socket.look(path)).toBe("taken");
    await socket.withdraw();
    expect(await tryConnect(path)).toBeUndefined();
  });

  test("leaves another file that came to have our name", async () => {
    await socket.publish(path);
    rmSync(path);
    writeFileSync(path, "precious");
    await socket.withdraw();
    expect(readFileSync(path, "utf8")).toBe("precious");
  });

  test("is content where the file, or its folder, is gone already", async () => {
    mkdirSync(folder.at("d"));
    await socket.publish(folder.at("d", NAME));
    rmSync(folder.at("d"), { recursive: true });
    expect(await socket.look(folder.at("d", NAME))).toBe("gone");
    await socket.withdraw();
  });

  test("tells where it may not remove the file, and has stopped listening all the same", async () => {
    mkdirSync(folder.at("d"));
    chmodSync(folder.path, 0o755);
    const path = folder.at("d", NAME);
    await socket.publish(path);
    await eventually(() => expect(readdirSync(folder.at("d"))).toEqual([NAME]));
    await asOrdinaryUser(async () => expect(socket.withdraw()).rejects.toThrow(/permission denied/));
    expect(await tryConnect(path)).toMatchObject({ code: "ECONNREFUSED" });
  });

  test("keeps the connections that are open", async () => {
    const connections: Socket[] = [];
    await using socket = createOwnedSocket((connection) => connections.push(connection));
    await socket.publish(path);
    const client = connect({ path: path });
    await eventually(() => expect(connections).toHaveLength(1));
    await socket.withdraw();
    connections[0]?.end("still here");
    expect((await client.setEncoding("utf8").toArray()).join("")).toBe("still here");
  });
});

describe("publishing again", () => {
  test("replaces our own file in one step, and open connections stay", async () => {
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
    connections[0]?.end("still here");
    expect((await client.setEncoding("utf8").toArray()).join("")).toBe("still here");
  });

  test("under another name takes the first away before: there are never two", async () => {
    await socket.publish(path);
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

  test("after somebody removed the file makes it anew", async () => {
    await socket.publish(path);
    rmSync(path);
    expect(await socket.look(path)).toBe("gone");
    expect(await socket.publish(path)).toBe("gone");
    expect(await tryConnect(path)).toBeUndefined();
  });
});

describe("an aborted signal", () => {
  test("before: nothing is made", async () => {
    const publishing = socket.publish(path, { overLiving: true, until: AbortSignal.abort() });
    await expect(publishing).rejects.toMatchObject({ name: "AbortError" });
    await filesAre();
  });

  test("meanwhile: a living socket that was to be replaced is not", () =>
    expectNothingLeft(async () => {
      const stop = new AbortController();
      await using _theirs = await startForeignSocket(path);
      const before = identityOf(path);
      const publishing = socket.publish(path, { overLiving: true, until: stop.signal });
      await eventually(() => expect(readdirSync(folder.path)).toHaveLength(2));
      stop.abort();
      await expect(publishing).rejects.toMatchObject({ name: "AbortError" });
      expect(identityOf(path)).toBe(before);
      await filesAre(NAME);
    }));
});
