import { mkdirSync, writeFileSync } from "node:fs";
import { memoryProblem } from "../../src/runtime/memory-limit";
import { createTempFolder, type TempFolder } from "../support/temp-folder";

const MI = 2 ** 20;
const disksReading = (folder: TempFolder, ...readAheads: readonly string[]) => {
  for (const [number, readAhead] of readAheads.entries()) {
    mkdirSync(folder.at(`disk${number}`, "queue"), { recursive: true });
    writeFileSync(folder.at(`disk${number}`, "queue", "read_ahead_kb"), readAhead);
  }
  return folder.path;
};

test.each<[readAheadKb: number, limitMi: number, said: "nothing" | "set 64Mi"]>([
  [128, 31, "set 64Mi"],
  [128, 32, "nothing"],
  [512, 32, "nothing"],
  [1024, 32, "set 64Mi"],
  [8192, 63.9, "set 64Mi"],
  [8192, 64, "nothing"],
  [0, 24, "set 64Mi"],
  [8192, 0, "nothing"],
])("disks that read %d kB ahead, a limit of %dMi: %s", async (readAheadKb, limitMi, said) => {
  await using folder = await createTempFolder();
  const problem = memoryProblem(limitMi * MI, disksReading(folder, `${readAheadKb}\n`));
  expect(problem === undefined ? "nothing" : `set ${problem.set}`).toBe(said);
});

test("the disk with the largest read-ahead counts", async () => {
  await using folder = await createTempFolder();
  const disks = disksReading(folder, "128\n", "4096\n", "not a number\n");
  mkdirSync(folder.at("no-disk"));
  expect(memoryProblem(48 * MI, disks)).toEqual({ limit: "48Mi", set: "64Mi", readAhead: "4096 kB" });
  expect(memoryProblem(48 * MI, folder.at("no-disk"))).toBeUndefined();
  expect(memoryProblem(24 * MI, folder.at("nowhere"))).toMatchObject({ readAhead: "0 kB" });
});
