import { lstatSync, renameSync, utimesSync } from "node:fs";
import { isSameFile, isSameSocket } from "../../src/unix/files";
import { leaveDeadSocket } from "../support/foreign-socket";
import { createTempFolder } from "../support/temp-folder";

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
});
