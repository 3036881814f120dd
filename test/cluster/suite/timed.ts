import { isOwn } from "../support/cluster";
import { hasDynamicVolumes } from "../support/dynamic-volumes";
import { CONTESTANTS, type Contestant } from "../support/objects";
import { type Outcome, play, type Scenario } from "../support/play";
import { keepOutcome } from "../support/results";
import { SCENARIOS } from "../support/scenarios";
import { cluster, sayLeftOut } from "../support/use-cluster";

const plays = Number(process.env.CLUSTER_PLAYS ?? 1);
const hasOfficial = CONTESTANTS.length > 1;
const playable = SCENARIOS.filter(({ title, needsInside, needsOfficial, needsSidecars }) => {
  const missing = [
    ...(!isOwn && needsInside ? ["the node's inside"] : []),
    ...(!hasDynamicVolumes && needsSidecars ? ["the sidecars of dynamic volumes"] : []),
  ];
  for (const one of missing) sayLeftOut(title, one);
  return missing.length === 0 && (hasOfficial || !needsOfficial);
});

describe.each(Array.from({ length: plays }, (_, index) => index + 1))("play %i", (round) => {
  test.each(playable.filter(({ once = false }) => !once || round === 1))("$title", async (scenario) => {
    const outcomes: Outcome[] = [];
    for (const contestants of groupsOf(scenario))
      outcomes.push(...(await play(cluster(), scenario, contestants)));
    outcomes.forEach(keepOutcome);
    const ours = outcomes.filter(({ contestant }) => contestant === "ours");
    const { comesBack, podRuns = true, restarts } = scenario.ours;
    expect(ours.length).toBeGreaterThan(0);
    for (const { title, missingMs, podMs, restarts: counted } of ours)
      expect({
        title,
        comesBack: missingMs !== undefined,
        podRuns: podMs !== undefined,
        restarts: counted,
      }).toEqual({ title, comesBack, podRuns, restarts: restarts ?? counted });
  });
});

function groupsOf({ alone }: Scenario): readonly (readonly Contestant[])[] {
  return alone ? CONTESTANTS.map((one) => [one]) : [CONTESTANTS];
}
