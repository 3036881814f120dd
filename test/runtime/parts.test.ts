import { mkdirSync, writeFileSync } from "node:fs";
import { Script } from "node:vm";
import { createRequireOfParts } from "../../src/runtime/parts";
import { createTempFolder } from "../support/temp-folder";

const part = (body: string) => `(function (exports, require, module, file, directory) { ${body} })`;

test.each(["alone", "beside V8's code cache", "beside the cache of another text"])(
  "a part is run once, and loads others and modules: %s",
  async (how) => {
    await using folder = await createTempFolder();
    mkdirSync(folder.at("cli"));
    const a = part("module.exports = { b: require('part:b'), path: require('node:path'), file, directory };");
    writeFileSync(folder.at("cli", "a.js"), a);
    writeFileSync(
      folder.at("cli", "b.js"),
      part("exports.runs = (globalThis.runsOfB = (globalThis.runsOfB ?? 0) + 1);"),
    );
    const cached =
      how === "alone" ? undefined : new Script(how.includes("another") ? "1" : a).createCachedData();
    if (cached) writeFileSync(folder.at("cli", "a.cache"), cached);
    const load = createRequireOfParts((name) => `module ${name}`, "/main.js", folder.path);
    const loaded = load("part:a");
    expect(loaded).toEqual({
      ...{ b: { runs: expect.any(Number) }, path: "module node:path" },
      ...{ file: "/main.js", directory: folder.path },
    });
    expect(load("part:a")).toBe(loaded);
    expect(load("part:b")).toEqual((loaded as { readonly b: object }).b);
    expect(load("./counterpart:b")).toBe("module ./counterpart:b");
    expect(() => load("part:c")).toThrow("ENOENT");
  },
);
