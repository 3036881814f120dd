import { build } from "esbuild";

test("parsing loads nothing heavy: the probe must answer within a second at a tenth of a CPU", async () => {
  const { metafile } = await build({
    entryPoints: ["src/flags/table.ts"],
    bundle: true,
    write: false,
    metafile: true,
  });
  expect(Object.keys(metafile.inputs).sort()).toEqual([
    "src/base/errors.ts",
    "src/base/near-word.ts",
    "src/flags/grammar.ts",
    "src/flags/table.ts",
    "src/flags/values.ts",
    "src/logging/escape.ts",
  ]);
});
