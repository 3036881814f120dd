import { build } from "esbuild";

test("parsing loads nothing heavy: the probe must answer within a second at a tenth of a CPU", async () => {
  const { metafile } = await build({
    entryPoints: ["src/cli/flags.ts"],
    bundle: true,
    write: false,
    metafile: true,
  });
  expect(Object.keys(metafile.inputs).sort()).toEqual([
    "src/base/near-word.ts",
    "src/cli/flags.ts",
    "src/cli/go-flags.ts",
    "src/cli/go-values.ts",
    "src/cli/klog-values.ts",
    "src/logging/escape.ts",
  ]);
});
