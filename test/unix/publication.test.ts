import fs, { linkSync, lstatSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { systemError } from "../../src/base/errors";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { failLooks } from "../support/failing-looks";
import { leaveDeadSocket } from "../support/foreign-socket";
import { createOwnedSocket, unusable } from "../support/owned-socket";
import { createTempFolder } from "../support/temp-folder";

const folder = eachTest(createTempFolder);
const path = () => folder.at("x");

test("a socket that could not be hidden at first is hidden by the next call", async () => {
  await using socket = createOwnedSocket();
  await socket.publish(path());
  jest.spyOn(fs, "unlinkSync").mockImplementationOnce(() => {
    throw systemError("EIO");
  });
  await expect(socket.hide()).rejects.toMatchObject({ code: "EIO" });
  await socket.hide();
  expect(readdirSync(folder.path)).not.toContain("x");
});

test.each<[string, (socket: ReturnType<typeof createOwnedSocket>) => Promise<unknown>]>([
  ["withdrawn", (socket) => socket.withdraw()],
  ["hidden", (socket) => socket.hide()],
  ["replaced", (socket) => socket.publish(path())],
])("a publication is aborted when it is %s", async (_how, end) => {
  await using socket = createOwnedSocket();
  await socket.publish(path());
  const publication = socket.publicationOf(lstatSync(path()));
  expect(publication).toMatchObject({ path: path(), withdrawn: { aborted: false } });
  expect(socket.publicationOf(lstatSync(folder.path))).toBeUndefined();
  await end(socket);
  expect(publication?.withdrawn.aborted).toBe(true);
});

test("a socket is withdrawn where another file has the name under which it was to be hidden", async () => {
  await using socket = createOwnedSocket();
  await socket.publish(path());
  jest.spyOn(fs.promises, "link").mockImplementationOnce(async (_from, to) => {
    writeFileSync(to, "precious");
    throw systemError("EEXIST");
  });
  await socket.hide();
  expect(socket.path).toBeUndefined();
  expect(readdirSync(folder.path)).toEqual([expect.stringMatching(/^\.out-/)]);
});

test("looks that fail count as unchanged, and are logged once until one succeeds", async () => {
  await using socket = createOwnedSocket();
  await socket.publish(path());
  const warned = { severity: "warning", fields: { socketPath: path(), found: "unreadable" } };
  for (const times of [1, 2]) {
    const failing = failLooks(path(), "EIO");
    for (const _look of [1, 2]) expect(await socket.look(path())).toBe("unreadable");
    failing[Symbol.dispose]();
    expect(await socket.look(path())).toBe("ours");
    expect(socket.log.records).toMatchObject(Array(times).fill(warned));
  }
  using _failing = failLooks(folder.path, "EIO", "stat");
  expect(await socket.hasDirectory()).toBe(true);
  expect(socket.log.records[0]?.fields).toMatchObject({ err: { code: "EIO" } });
});

test("a publication holds the dead socket that it replaces no longer than it needs", async () => {
  await using socket = createOwnedSocket();
  await leaveDeadSocket(path());
  const { open } = fs.promises;
  const handles: fs.promises.FileHandle[] = [];
  jest.spyOn(fs.promises, "open").mockImplementation(async (...of) => {
    const handle = await open(...of);
    handles.push(handle);
    return handle;
  });
  await socket.publish(path());
  const CLOSED = -1;
  await eventually(() => expect(handles.map(({ fd }) => fd)).toEqual([CLOSED, CLOSED]));
});

test("a socket whose file system hangs is not withdrawn, one that cannot be looked at is", async () => {
  await using socket = createOwnedSocket();
  await socket.publish(path());
  {
    using _hanging = failLooks(path(), "ETIMEDOUT");
    await expect(socket.withdraw()).rejects.toMatchObject({ code: "ETIMEDOUT" });
    expect(socket.path).toBe(path());
  }
  using _failing = failLooks(path(), "EACCES");
  await expect(socket.publish(path())).rejects.toEqual(unusable("EACCES: permission denied"));
  await socket.withdraw();
  expect(readdirSync(folder.path)).not.toContain("x");
});

test("why a publication failed is told without the dot-name, which changes", async () => {
  await using socket = createOwnedSocket();
  jest.spyOn(fs.promises, "chmod").mockImplementationOnce(async (at) => {
    throw systemError("EIO", `i/o error, chmod '${at}'`);
  });
  const message = `cannot listen on ${path()}: EIO: i/o error, chmod '${path()}'`;
  await expect(socket.publish(path())).rejects.toMatchObject({ code: "SOCKET_UNUSABLE", message });
});

test("a file that replaces ours between the look and the removal stays", async () => {
  await using socket = createOwnedSocket();
  await socket.publish(path());
  linkSync(path(), folder.at("second"));
  expect(await socket.look(folder.at("second"))).toBe("taken");
  const ours = lstatSync(path());
  jest.spyOn(fs.promises, "lstat").mockImplementationOnce(async () => {
    writeFileSync(folder.at("other"), "precious");
    renameSync(folder.at("other"), path());
    return ours;
  });
  await socket.withdraw();
  expect(fs.readFileSync(path(), "utf8")).toBe("precious");
});

test("a socket is moved, not linked, on a file system that is not of this machine", async () => {
  const { readFileSync } = fs;
  jest
    .spyOn(fs, "readFileSync")
    .mockImplementation(((file: string, ...more: []) =>
      file.endsWith("/mountinfo") ? "1 0 0:1 / / rw - vboxsf x rw" : readFileSync(file, ...more)) as never);
  const later = performance.now() + 60_000; // The table that was read last is old.
  jest.spyOn(performance, "now").mockReturnValue(later);
  const link = jest.spyOn(fs.promises, "link");
  await using socket = createOwnedSocket();
  expect(await socket.publish(path())).toBe("gone");
  expect(link).not.toHaveBeenCalled();
  expect(readdirSync(folder.path)).toEqual(["x"]);
});
