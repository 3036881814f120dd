import fs, { lstatSync, readdirSync, writeFileSync } from "node:fs";
import { systemError } from "../../src/base/errors";
import { eachTest } from "../support/each-test";
import { failLooks } from "../support/failing-looks";
import { createOwnedSocket } from "../support/owned-socket";
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
