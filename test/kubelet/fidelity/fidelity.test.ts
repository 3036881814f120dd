import { isDeepStrictEqual } from "node:util";
import { SIMULATED_VERSIONS, type SimulatedVersion } from "../../../src/testing";
import { kubeletVersions } from "../support/versions";
import { play } from "./play";
import { realKubelet } from "./real-kubelet";
import type { Scenario } from "./scenario";
import { scenarios } from "./scenarios";
import { untoldSuccess } from "./scenarios/registrars";
import { simulatedKubelet } from "./simulated-kubelet";
import type { TestedKubelet } from "./tested-kubelet";

/** Both run on real clocks, and a machine that stalls can part them; what parts them every time is a difference. */
const ATTEMPTS = 3;

/** A scenario as both kubelets play it: as soon as they agree, or at last. */
async function playBoth(scenario: Scenario, kubelets: readonly TestedKubelet[]) {
  for (let attempt = 1; ; attempt++) {
    const [simulated, real] = await Promise.all(kubelets.map((kubelet) => play(scenario, kubelet)));
    if (attempt === ATTEMPTS || isDeepStrictEqual(simulated, real)) return { simulated, real };
  }
}

for (const release of kubeletVersions()) {
  const version = simulatedFor(release);
  if (version === undefined) continue;
  describe(`kubelet ${release}, simulated and real,`, () => {
    test.concurrent.each(scenarios)("$name", async (scenario) => {
      const { simulated, real } = await playBoth(scenario, [simulatedKubelet(version), realKubelet(release)]);
      expect(simulated).toEqual(real);
    });
  });
}

test("the comparison tells kubelets apart that differ", async () => {
  const kubelets = [simulatedKubelet("1.28"), simulatedKubelet("1.36")];
  const [older, newer] = await Promise.all(kubelets.map((kubelet) => play(untoldSuccess, kubelet)));
  expect(older).not.toEqual(newer);
});

/** The simulated kubelet that a release is to be like: one newer than all of them changed nothing that a plugin sees. */
function simulatedFor(release: string): SimulatedVersion | undefined {
  const minor = (version: string) => Number(version.split(".")[1]);
  const newest = SIMULATED_VERSIONS.at(-1);
  const exact = SIMULATED_VERSIONS.find((simulated) => release.startsWith(`${simulated}.`));
  return exact ?? (newest !== undefined && minor(release) > minor(newest) ? newest : undefined);
}
