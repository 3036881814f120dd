import { publishSteps } from "../../src/unix/publish-steps";

/** The steps of a publication, each with its answer, and what it returns. */
test.each<[string, overLiving: boolean, atOnce: boolean, steps: string]>([
  ["gone", false, false, "judge bind withdrawOther link=true gone"],
  ["dead", false, false, "judge bind withdrawOther link isSame=true wait isSame=true rename dead"],
  ["dead", false, false, "judge bind withdrawOther link isSame taken"],
  ["dead", false, false, "judge bind withdrawOther link isSame=true wait isSame taken"],
  ["taken", true, false, "judge bind withdrawOther link wait rename taken"],
  ["taken", false, false, "judge taken"],
  ["hanging", true, false, "judge hanging"],
  ["blocked", true, false, "judge blocked"],
  ["dead", false, true, "judge bind withdrawOther isSame=true rename dead"],
  ["dead", false, true, "judge bind withdrawOther isSame taken"],
  ["taken", true, true, "judge bind withdrawOther rename taken"],
])("a publication that finds %s, over a living one %s, at once %s: %s", (found, overLiving, atOnce, all) => {
  const expected = all.split(" ");
  const steps = publishSteps({ overLiving, atOnce });
  const way: string[] = [];
  for (let step = steps.next(); ; ) {
    way.push(step.value);
    if (step.done) break;
    const [, answer] = expected[way.length - 1]?.split("=") ?? [];
    if (answer) way[way.length - 1] += `=${answer}`;
    step = steps.next(step.value === "judge" ? found : answer === "true");
  }
  expect(way).toEqual(expected);
});
