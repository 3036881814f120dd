import { CONTESTANTS } from "../support/objects";
import { type Outcome, play } from "../support/play";
import { keepOutcome } from "../support/results";
import { SCENARIOS } from "../support/scenarios";
import { cluster } from "../support/use-cluster";

const plays = Number(process.env.CLUSTER_PLAYS ?? 1);
const playable = SCENARIOS.filter(({ needsOfficial }) => CONTESTANTS.length > 1 || !needsOfficial);

describe.each(Array.from({ length: plays }, (_, index) => index + 1))("play %i", () => {
  test.each(playable)("$title", async (scenario) => {
    const outcomes: Outcome[] = [];
    for (const contestants of scenario.alone ? CONTESTANTS.map((one) => [one]) : [CONTESTANTS])
      outcomes.push(...(await play(cluster, scenario, contestants)));
    outcomes.forEach(keepOutcome);
    const ours = outcomes.filter(({ contestant }) => contestant === "ours");
    const { comesBack, podRuns = true, restarts } = scenario.ours;
    expect(ours.length).toBeGreaterThan(0);
    for (const { title, missingMs, podMs, restarts: counted } of ours)
      expect([title, missingMs !== undefined, podMs !== undefined, counted]).toEqual([
        ...[title, comesBack, podRuns, restarts ?? counted],
      ]);
  });
});
