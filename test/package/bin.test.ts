import { mkdir, symlink } from "node:fs/promises";
import { createTempFolder, type TempFolder } from "../support/temp-folder";
import { packedOnce } from "./support/packed-once";
import { packageJson } from "./support/packed-package";
import { run } from "./support/run";

let folder: TempFolder;
beforeAll(async () => {
  folder = await createTempFolder();
  const packed = await packedOnce();
  // As npx installs it, but for the dependencies: the command needs none of them.
  await packed.unpack(folder.at("node_modules", "registrar"));
  await mkdir(folder.at("node_modules", ".bin"));
  const [[command = "", target = ""] = []] = Object.entries(packageJson.bin);
  await symlink(`../registrar/${target}`, folder.at("node_modules", ".bin", command));
  await mkdir(folder.at("empty"));
});
afterAll(() => folder[Symbol.asyncDispose]());

/** The packed command in an empty folder. */
const registrar = (...args: readonly string[]) =>
  run(folder.at("node_modules", ".bin", "registrar"), args, { cwd: folder.at("empty") });

test("--version is the package's", async () => {
  expect(await registrar("--version")).toEqual({
    code: 0,
    stdout: expect.stringMatching(`^\\S+ v${packageJson.version}\n$`),
    stderr: "",
  });
});
