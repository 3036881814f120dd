import { readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { tryConnect } from "../../../src/unix/unix-socket";
import { eventually } from "../../support/eventually";
import { registerOnce } from "../../support/fake-kubelet";
import { createRandom } from "../../support/random";
import { createTestNode, startTestRegistrar, type TestRegistrar } from "../../support/registrar-node";
import { startScriptedDriver } from "../../support/scripted-driver";

const name = "x.csi";

const stateOf = ({ registrar }: TestRegistrar) => registrar.status().state;
const publicationsOf = ({ registrar }: TestRegistrar) =>
  Object.values(registrar.status().tally.publications).reduce((sum, times) => sum + times, 0);

/** In any order of starts and stops, in the end exactly one has the socket and the others leave it in peace. */
test.each([1, 2, 3, 4, 5, 6])("rivals come to rest, seed %d", async (seed) => {
  const chance = createRandom(seed);
  const random = (below: number) => Math.floor(chance() * below);
  await using node = await createTestNode();
  await using _driver = await startScriptedDriver(node.csiAddress, { name });
  const rivals: TestRegistrar[] = [];
  for (let step = 0; step < 12; step++) {
    const [leaver] = rivals.length > 1 && random(5) < 2 ? rivals.splice(random(rivals.length), 1) : [];
    if (leaver) await leaver.registrar.close();
    else rivals.push(await startTestRegistrar(node));
    await delay(random(60));
  }

  const inPlace = () => rivals.filter((rival) => stateOf(rival) === "listening");
  await eventually(() => {
    expect(inPlace()).toHaveLength(1);
    expect(rivals.filter((rival) => stateOf(rival) === "standby")).toHaveLength(rivals.length - 1);
  });
  const publications = rivals.map(publicationsOf);
  expect((await registerOnce(node.socketPath(name))).name).toBe(name);
  await inPlace()[0]?.state("registered");
  await delay(200);
  expect(rivals.map(publicationsOf)).toEqual(publications);

  while (rivals.length > 0) {
    await rivals.splice(random(rivals.length), 1)[0]?.registrar.close();
    if (rivals.length > 0)
      await eventually(async () => expect(await tryConnect(node.socketPath(name))).toBeUndefined());
  }
  expect(readdirSync(node.pluginRegistrationPath)).toEqual([]);
});
