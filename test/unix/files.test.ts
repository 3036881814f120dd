import { lstatSync, mkdirSync, renameSync, type Stats, utimesSync } from "node:fs";
import { someCallHangs } from "../../src/unix/file-calls";
import {
  findFile,
  findLink,
  isSameDirectory,
  isSameFile,
  isSameSocket,
  listNames,
} from "../../src/unix/files";
import { eventually } from "../support/eventually";
import { leaveDeadSocket } from "../support/foreign-socket";
import { mayMount, mountHanging } from "../support/hanging-mount";
import { createTempFolder } from "../support/temp-folder";

(mayMount() ? test : test.skip)("a file system that never answers stops no call on another", async () => {
  await using folder = await createTempFolder();
  const [one, other] = [folder.at("one"), folder.at("other")];
  mkdirSync(one);
  mkdirSync(other);
  {
    using _one = mountHanging(one);
    using _other = mountHanging(other);
    const looks = await Promise.all([findFile(one), findLink(`${other}/csi.sock`), listNames(other)]);
    expect(looks).toEqual(["hanging", "hanging", []]);
    expect(await findFile(folder.path)).toMatchObject({ ino: expect.any(Number) });
    expect(await findLink(folder.at("x"))).toBe("gone");
  }
  await eventually(() => expect(someCallHangs()).toBe(false));
  expect(await listNames(folder.path)).toEqual(["one", "other"]);
});

test("a socket is the same under another name, and another one where only its inode's number is", async () => {
  await using folder = await createTempFolder();
  const path = folder.at("x.sock");
  await leaveDeadSocket(path);
  const before = lstatSync(path);
  renameSync(path, folder.at("y.sock"));
  const renamed = lstatSync(folder.at("y.sock"));
  expect(isSameSocket(before, renamed)).toBe(true);
  // As a socket made later that is given the number again.
  utimesSync(folder.at("y.sock"), renamed.atime, new Date(renamed.mtimeMs + 1_000));
  const later = lstatSync(folder.at("y.sock"));
  expect([isSameFile(before, later), isSameSocket(before, later)]).toEqual([true, false]);
  // A directory that was given the number again was born later.
  expect(isSameDirectory(before, { ...before, birthtimeMs: before.birthtimeMs + 1 } as Stats)).toBe(false);
});
