import { mkdirSync, writeFileSync } from "node:fs";
import { judgeMemoryLimit, memoryProblem } from "../../src/cli/memory-limit";
import { createTempFolder } from "../support/temp-folder";

const MI = 2 ** 20;

test.each<[readAheadKb: number, limitMi: number, said: "nothing" | "set 64Mi"]>([
  [128, 31, "set 64Mi"],
  [128, 32, "nothing"],
  [512, 32, "nothing"],
  [1024, 32, "set 64Mi"],
  [4096, 48, "set 64Mi"],
  [8192, 63.9, "set 64Mi"],
  [8192, 64, "nothing"],
  [0, 32, "nothing"],
  [0, 24, "set 64Mi"],
  [8192, Number.POSITIVE_INFINITY, "nothing"],
])("disks that read %d kB ahead, a limit of %dMi: %s", (readAheadKb, limitMi, said) => {
  const problem = judgeMemoryLimit(limitMi * MI, readAheadKb);
  expect(problem === undefined ? "nothing" : `set ${problem.set}`).toBe(said);
});

test("the disk that reads the most ahead counts, whatever the others are like", async () => {
  await using disks = await createTempFolder();
  for (const [disk, readAhead] of [
    ["loop0", "128\n"],
    ["vda", "4096\n"],
    ["sda", "not a number\n"],
  ] as const) {
    mkdirSync(disks.at(disk, "queue"), { recursive: true });
    writeFileSync(disks.at(disk, "queue", "read_ahead_kb"), readAhead);
  }
  mkdirSync(disks.at("no-disk"));
  expect(memoryProblem(48 * MI, disks.path)).toEqual({ limit: "48Mi", set: "64Mi", readAhead: "4096 kB" });
  expect(memoryProblem(48 * MI, disks.at("no-disk"))).toBeUndefined();
  expect(memoryProblem(24 * MI, disks.at("nowhere"))).toMatchObject({ readAhead: "0 kB" });
  expect(memoryProblem(64 * MI, disks.path)).toBeUndefined();
});
