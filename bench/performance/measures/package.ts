import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTempFolder } from "../../../test/support/temp-folder";
import type { Measure } from "../measure";

const ROOT = join(__dirname, "..", "..", "..");
const BUDGET_MB = 1.5;

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly entryCount: number;
}

/** What there is to download. */
export const packageMeasure: Measure = {
  name: "package",
  run: async ({ contestants, say }) => {
    say("package");
    await using folder = await createTempFolder();
    const npm = (...words: readonly string[]) =>
      execFileSync("npm", words, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const [packed] = JSON.parse(
      npm("pack", "--ignore-scripts", "--json", `--pack-destination=${folder.path}`),
    ) as [Packed];
    const parts = join(dirname(contestants.cachedCli), "cli");
    const image = [contestants.cachedCli, ...readdirSync(parts).map((name) => join(parts, name))];
    const imageKb = image.reduce((sum, file) => sum + statSync(file).size / 1_000, 0);
    const megabytes = packed.size / 1e6;
    return {
      tables: [
        {
          title: "size",
          head: ["", ""],
          rows: [
            ["packed tarball", `${(packed.size / 1_000).toFixed(0)} kB`],
            ["unpacked", `${(packed.unpackedSize / 1_000).toFixed(0)} kB, ${packed.entryCount} files`],
            ["what a sidecar image adds to Node's, with code cache", `${imageKb.toFixed(0)} kB`],
          ],
        },
      ],
      verdicts: [
        {
          what: "packed tarball",
          budget: `<= ${BUDGET_MB} MB`,
          measured: `${megabytes.toFixed(2)} MB`,
          isMet: megabytes <= BUDGET_MB,
        },
      ],
    };
  },
};
