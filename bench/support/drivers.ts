// node --require scripts/typescript.cjs drivers.ts FOLDER COUNT: simulated CSI drivers in one process, each with a folder
// of its own, until stdin ends. Says on stdout when all listen.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startCsiDriver } from "../../src/testing";
import { nameOf } from "../../test/kubelet/support/crowd";

async function main([folder = "", count = "0"]: readonly string[]): Promise<void> {
  for (let number = 0; number < Number(count); number++) {
    const name = nameOf(number);
    mkdirSync(join(folder, name));
    await startCsiDriver({ csiAddress: join(folder, name, "csi.sock"), name });
  }
  process.stdout.write("started\n");
  process.stdin.resume().once("end", () => process.exit());
}

void main(process.argv.slice(2));
