import { startCluster } from "../../test/node-readiness/api-server/support/cluster";
import { makeTestCertificate } from "../../test/node-readiness/support/fixture";
import { measureCrowd } from "./crowd";
import { measureLives } from "./latency";
import { measureMemory } from "./memory";

const ROUNDS = 50;
const REGISTRARS = 2_000;

const PAIRS = 3;

async function main(): Promise<void> {
  const print = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`);
  for (let pair = 0; pair < PAIRS; pair += 1)
    print({ kind: "anonymous memory, kB", ...(await measureMemory()) });
  print(await measureCrowd(await makeTestCertificate(), REGISTRARS, 30));
  await using cluster = await startCluster();
  const lives = await measureLives(cluster, ROUNDS);
  const sorted = lives.map(({ removalSeconds }) => removalSeconds).sort((one, other) => one - other);
  print({
    rounds: ROUNDS,
    medianSeconds: sorted[ROUNDS / 2],
    worstSeconds: sorted.at(-1),
    node: process.version,
  });
}

void main();
