import { simulatedVersion } from "../../../src/kubelet-rules/versions";
import { kubeletVersions } from "../support/versions";
import { realKubelet, simulatedKubelet } from "./kubelets";
import { play } from "./play";
import { drivers } from "./scenarios/drivers";
import { files } from "./scenarios/files";
import { life } from "./scenarios/life";
import { refusals } from "./scenarios/refusals";
import { registrars, UNTOLD_SUCCESS } from "./scenarios/registrars";
import type { Scenario } from "./scripted-node";

const scenarios: readonly Scenario[] = Object.entries({
  ...life,
  ...files,
  ...refusals,
  ...drivers,
  ...registrars,
}).map(([name, given]) => (typeof given === "function" ? { name, script: given } : { name, ...given }));

for (const release of kubeletVersions()) {
  const version = simulatedVersion(release);
  if (version === undefined) continue;
  describe(`kubelet ${release}, simulated and real,`, () => {
    test.concurrent.each(scenarios)("$name", async (scenario) => {
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
