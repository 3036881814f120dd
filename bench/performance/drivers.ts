// node --require bench/typescript.cjs drivers.ts FOLDER COUNT: simulated CSI drivers in one process, each with a folder
// of its own. Takes `add` and `remove` with a driver's number on stdin; says on stdout when that is done.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type SimulatedCsiDriver, startCsiDriver } from "../../src/testing";
import { nameOf } from "../../test/kubelet/support/crowd";

const [folder = "", count = "0"] = process.argv.slice(2);
const drivers = new Map<number, SimulatedCsiDriver>();

async function add(number: number): Promise<void> {
  const name = nameOf(number);
  mkdirSync(join(folder, name));
  drivers.set(number, await startCsiDriver({ csiAddress: join(folder, name, "csi.sock"), name }));
}

async function remove(number: number): Promise<void> {
  await drivers.get(number)?.close();
  drivers.delete(number);
  rmSync(join(folder, nameOf(number)), { recursive: true });
}

async function main(): Promise<void> {
  for (let number = 0; number < Number(count); number++) await add(number);
  process.stdout.write("started\n");
  for await (const line of createInterface({ input: process.stdin })) {
    const [command, number] = line.split(" ");
    await (command === "add" ? add : remove)(Number(number));
    process.stdout.write(`${line}\n`);
  }
  process.exit();
}

void main();
