import fs, {
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { systemError } from "../../src/base/errors";
import { countDescriptors } from "../../src/unix/descriptors";
import { directoryVersionOf, holdFile, isHeldFile, versionOf } from "../../src/unix/file-identity";
import { findLink } from "../../src/unix/files";
import { eachTest } from "../support/each-test";
import { leaveDeadSocket } from "../support/foreign-socket";
import { expectNothingLeft } from "../support/resources";
import { createTempFolder } from "../support/temp-folder";

const folder = eachTest(createTempFolder);

async function hold(path: string) {
  const held = await holdFile(path);
  if (typeof held === "string") throw new Error(`nothing to hold: ${held}`);
  return held;
}

test("a file that is held is known under each of its names, and gives its inode's number to no other", () =>
  expectNothingLeft(async () => {
    const path = folder.at("x.sock");
    await leaveDeadSocket(path);
    const held = await hold(path);
    linkSync(path, folder.at("y.sock"));
    rmSync(path);
    expect(isHeldFile(held, await findLink(folder.at("y.sock")))).toBe(true);
    rmSync(folder.at("y.sock"));
    for (let round = 0; round < 10; round++) {
      await leaveDeadSocket(path);
      expect(isHeldFile(held, await findLink(path))).toBe(false);
      rmSync(path);
    }
    held.release();
    held.release();
  }));

test("a file with its inode's number on another device is another one", async () => {
  const path = folder.at("x.sock");
  await leaveDeadSocket(path);
  const held = await hold(path);
  const elsewhere = Object.assign(lstatSync(path), { dev: held.stats.dev + 1 });
  expect(isHeldFile(held, elsewhere)).toBe(false);
  held.release();
});

test("a released file is no longer recognised", async () => {
  const path = folder.at("x.sock");
  await leaveDeadSocket(path);
  const held = await hold(path);
  held.release();
  expect(isHeldFile(held, lstatSync(path))).toBe(false);
});

test("a link is held, not its target, and a missing file is not held", async () => {
  writeFileSync(folder.at("file"), "");
  symlinkSync("file", folder.at("link"));
  const held = await hold(folder.at("link"));
  expect([held.stats.isSymbolicLink(), isHeldFile(held, lstatSync(folder.at("file")))]).toEqual([
    true,
    false,
  ]);
  held.release();
  expect(await holdFile(folder.at("no"))).toBe("gone");
  expect(await holdFile(folder.at("file", "x"))).toBe("gone");
});

test("a file that cannot be read leaves no descriptor", async () => {
  writeFileSync(folder.at("file"), "");
  const other = await open(folder.at("file"));
  const looking = jest.spyOn(Object.getPrototypeOf(other) as typeof other, "stat");
  const before = countDescriptors();
  looking.mockRejectedValueOnce(systemError("EIO"));
  expect(await holdFile(folder.at("file"))).toBe("unreadable");
  expect(countDescriptors()).toBe(before);
  looking.mockRestore();
  await other.close();
});

test("a shortage of file descriptors says nothing of the file", async () => {
  jest.spyOn(fs.promises, "open").mockRejectedValueOnce(systemError("EMFILE"));
  await expect(holdFile(folder.at("file"))).rejects.toMatchObject({ code: "EMFILE" });
});

test("a file that is opened only after its call was given up leaves no descriptor", async () => {
  writeFileSync(folder.at("file"), "");
  let opening: Promise<unknown> | undefined;
  jest.resetModules();
  jest.doMock("../../src/unix/file-calls", () => ({
    callFileSystem: (_path: string, call: () => Promise<unknown>) => {
      opening = call();
      return Promise.reject(systemError("ETIMEDOUT"));
    },
  }));
  const late = await import("../../src/unix/file-identity");
  const before = countDescriptors();
  expect(await late.holdFile(folder.at("file"))).toBe("hanging");
  await opening;
  expect(countDescriptors()).toBe(before);
});

test("a socket's version changes with each server, a directory's with each birth", async () => {
  const path = folder.at("x.sock");
  await leaveDeadSocket(path);
  const before = lstatSync(path);
  renameSync(path, folder.at("y.sock"));
  expect(versionOf(lstatSync(folder.at("y.sock")))).toBe(versionOf(before));
  for (const field of ["dev", "ino", "mtimeMs"] as const)
    expect(versionOf({ ...before, [field]: before[field] + 1 } as Stats)).not.toBe(versionOf(before));
  mkdirSync(folder.at("d"));
  const born = lstatSync(folder.at("d"));
  const later = { ...born, birthtimeMs: born.birthtimeMs + 1 } as Stats;
  expect(directoryVersionOf(later)).not.toBe(directoryVersionOf(born));
});
