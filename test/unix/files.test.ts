import { mkdirSync } from "node:fs";
import { errnoOf } from "../../src/base/errors";
import { someCallHangs } from "../../src/unix/file-calls";
import { findFile, findLink, listNames } from "../../src/unix/files";
import { eventually } from "../support/eventually";
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
    const looks = await Promise.all([
      findFile(one),
      findLink(`${other}/csi.sock`),
      listNames(other).catch(errnoOf),
    ]);
    expect(looks).toEqual(["hanging", "hanging", "ETIMEDOUT"]);
    expect(await findFile(folder.path)).toMatchObject({ ino: expect.any(Number) });
    expect(await findLink(folder.at("x"))).toBe("gone");
  }
  await eventually(() => expect(someCallHangs()).toBe(false));
  expect(await listNames(folder.path)).toEqual(["one", "other"]);
});
