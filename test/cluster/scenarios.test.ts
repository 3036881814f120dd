import { SCENARIOS } from "./scenarios";
import { isOwn } from "./support/cluster";
import { CONTESTANTS, type Contestant } from "./support/objects";
import { type Outcome, play, type Scenario } from "./support/play";
import { keepOutcome } from "./support/results";
import { sayLeftOut, useCluster } from "./support/use-cluster";

const cluster = useCluster();

const plays = Number(process.env.CLUSTER_PLAYS ?? 1);
const hasOfficial = CONTESTANTS.length > 1;
const [playable, leftOut] = [
  SCENARIOS.filter(
    ({ needsInside, needsOfficial }) => (isOwn || !needsInside) && (hasOfficial || !needsOfficial),
  ),
  SCENARIOS.filter(({ needsInside }) => !isOwn && needsInside),
];
for (const { title } of leftOut) sayLeftOut(title);

describe.each(Array.from({ length: plays }, (_, index) => index + 1))("play %i", () => {
  test.each(playable)("$title", async (scenario) => {
    const outcomes: Outcome[] = [];
    for (const contestants of groupsOf(scenario))
      outcomes.push(...(await play(cluster(), scenario, contestants)));
    outcomes.forEach(keepOutcome);
    const ours = outcomes.find(({ contestant }) => contestant === "ours");
    expect(ours?.missingMs !== undefined).toBe(scenario.ours.comesBack);
    if (scenario.ours.restarts !== undefined) expect(ours?.restarts).toBe(scenario.ours.restarts);
  });
});

/** Who plays at the same time. */
function groupsOf({ alone, only }: Scenario): readonly (readonly Contestant[])[] {
  const all = CONTESTANTS.filter(({ name }) => only === undefined || name === only);
  return alone ? all.map((one) => [one]) : [all];
}
