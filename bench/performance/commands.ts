import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Bench, Row } from "../bench";
import { createPlace } from "../support/place";
import { median } from "../support/samples";

const ROUNDS = 3;
const DAEMON_SET = join(__dirname, "..", "..", "examples", "daemonset.yaml");
/** Runs a program ten times and says on stdout how many milliseconds of CPU each took: the kernel counts in 10 ms. proc(5), stat. */
const MEASURE = `
  const { spawnSync } = require("node:child_process");
  for (let run = 0; run < 10; run++) spawnSync(process.argv[1], process.argv.slice(2), { stdio: "ignore" });
  const fields = require("node:fs").readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  console.log(Number(fields[13]) + Number(fields[14]));`;

/** CPU time of a help text and of the commands that people run most. */
export async function commands({ node, cached }: Bench): Promise<readonly Row[]> {
  await using place = await createPlace();
  const lines = {
    "--help": ["--help"],
    "doctor -f of one file": ["doctor", "-f", DAEMON_SET],
    status: ["status", `--plugin-registration-path=${place.pluginDir}`],
  };
  const cpuOf = (line: readonly string[]) =>
    median(
      Array.from({ length: ROUNDS }, () =>
        Number(spawnSync(process.execPath, ["-e", MEASURE, ...line]).stdout),
      ),
    );
  const bare = cpuOf([node, "-e", "0"]);
  return Object.entries(lines).map(([name, words]) => {
    const cpuMs = cpuOf([...cached.program, ...words]);
    return [name, `${cpuMs.toFixed(0)} ms of CPU, ${(cpuMs / bare).toFixed(2)} times node -e 0`, ""];
  });
}
