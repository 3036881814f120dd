import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTempFolder } from "../support/temp-folder";
import { packagesOfUsers } from "./support/consumer";
import { packedOnce } from "./support/packed-once";
import { type PackedPackage, succeeded } from "./support/packed-package";
import { run } from "./support/run";

let packed: PackedPackage;
beforeAll(async () => {
  packed = await packedOnce();
});

test("arethetypeswrong and publint find nothing wrong, whichever way TypeScript resolves modules", async () => {
  const program = join(__dirname, "support", "judge-package.mjs");
  const { stdout } = succeeded(await run(process.execPath, [program, packed.tarball], { cwd: __dirname }));
  expect(JSON.parse(stdout)).toEqual({
    entrypoints: [".", "./testing", "./node-readiness", "./proto/*", "./package.json"],
    types: [],
    package: [],
  });
});

test("its package.json has nothing that concerns a clone only", async () => {
  await using folder = await createTempFolder();
  await packed.unpack(folder.path);
  const manifest = JSON.parse(readFileSync(folder.at("package.json"), "utf8"));
  expect(Object.keys(manifest)).toEqual(
    expect.arrayContaining(["dependencies", "repository", "bugs", "homepage"]),
  );
  for (const field of ["scripts", "devDependencies", "allowScripts"])
    expect(manifest).not.toHaveProperty(field);
});

test("who installs it gets gRPC and what that needs, and none of what the command line is bundled from", () => {
  const names = packagesOfUsers().map((path) => path.split("node_modules/").at(-1));
  expect(names).toEqual(expect.arrayContaining(["@grpc/grpc-js", "protobufjs"]));
  expect(
    names.filter((name) => ["pino", "prom-client", "yaml", "thread-stream"].includes(name ?? "")),
  ).toEqual([]);
});
