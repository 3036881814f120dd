import { behaviourOf, simulatedVersion } from "../../../src/kubelet-rules/versions";
import { kubeletVersions } from "../support/versions";
import { realKubelet, simulatedKubelet } from "./kubelets";
import { play } from "./play";
import { drivers } from "./scenarios/drivers";
import { files } from "./scenarios/files";
import { life } from "./scenarios/life";
import { randomScenarios } from "./scenarios/random";
import { refusals } from "./scenarios/refusals";
import { registrars, UNTOLD_SUCCESS } from "./scenarios/registrars";
import { variants } from "./scenarios/variants";
import type { Scenario } from "./scripted-node";

/** With the versions that a run tests by default it takes two minutes at most: the oldest and the newest, and a few of the random. */
const isWhole = process.env.KUBELET_VERSIONS !== undefined;
const versions = kubeletVersions().filter((_, index, all) => isWhole || index % (all.length - 1) === 0);
const RANDOM_SCENARIOS = isWhole ? 30 : 5;

const written: readonly Scenario[] = Object.entries({
  ...life,
  ...files,
  ...refusals,
  ...drivers,
  ...registrars,
  ...variants,
}).map(([name, given]) => (typeof given === "function" ? { name, script: given } : { name, ...given }));

const scenarios = [...written, ...randomScenarios(RANDOM_SCENARIOS)];

for (const release of versions) {
  const version = simulatedVersion(release);
  if (version === undefined) continue;
  describe(`kubelet ${release}, simulated and real,`, () => {
    const behaviour = behaviourOf(version);
    const played = scenarios.filter(({ applies }) => applies === undefined || applies(behaviour));
    test.concurrent.each(played)("$name", async (scenario) => {
      const kubelets = [simulatedKubelet(version), realKubelet(release)];
      const [simulated, real] = await Promise.all(kubelets.map((kubelet) => play(scenario, kubelet)));
      expect(simulated).toEqual(real);
    });
  });
}

test("the comparison tells kubelets apart that differ", async () => {
  const kubelets = [simulatedKubelet("1.28"), simulatedKubelet("1.36")];
  const [untold] = scenarios.filter(({ name }) => name === UNTOLD_SUCCESS);
  const [older, newer] = await Promise.all(kubelets.map((kubelet) => untold && play(untold, kubelet)));
  expect(older).not.toEqual(newer);
});
