import { publishSteps } from "../../src/unix/publish-steps";

/** The steps of a publication, each with its answer, and how it ends. */
test.each<[overLiving: boolean, atOnce: boolean, steps: string]>([
  [false, false, "judge=gone settle judge=gone bind withdrawOther isPlace=yes link=yes in-place(gone)"],
  [false, false, "judge=gone settle judge=dead settle judge=taken taken"],
  [
    false,
    false,
    "judge=dead settle judge=dead bind withdrawOther isPlace=yes link wait isPlace=yes renameIfSame=yes in-place(dead)",
  ],
  [
    false,
    false,
    "judge=dead settle judge=dead bind withdrawOther isPlace=yes link wait isPlace=yes renameIfSame judge=taken taken",
  ],
  [true, false, "judge=taken bind withdrawOther isPlace=yes link wait isPlace=yes rename in-place(taken)"],
  [true, false, "judge=gone bind withdrawOther isPlace elsewhere"],
  [true, false, "judge=taken bind withdrawOther isPlace=yes link wait isPlace elsewhere"],
  [false, false, "judge=taken taken"],
  [true, false, "judge=hanging unknown"],
  [true, false, "judge=unreadable unknown"],
  [true, false, "judge=blocked blocked"],
  [
    false,
    true,
    "judge=dead settle judge=dead bind withdrawOther isPlace=yes renameIfSame=yes in-place(dead)",
  ],
  [
    false,
    true,
    "judge=gone settle judge=gone bind withdrawOther isPlace=yes renameIfSame judge=dead settle judge=dead withdrawOther isPlace=yes renameIfSame=yes in-place(dead)",
  ],
  [true, true, "judge=taken bind withdrawOther isPlace=yes rename in-place(taken)"],
])("over a living one %s, at once %s: %s", (overLiving, atOnce, all) => {
  const expected = all.split(" ");
  const steps = publishSteps({ overLiving, atOnce });
  const way: string[] = [];
  let step = steps.next();
  for (; !step.done; ) {
    const [, answer] = expected[way.length]?.split("=") ?? [];
    way.push(answer ? `${step.value}=${answer}` : step.value);
    step = steps.next(step.value === "judge" ? answer : answer === "yes");
  }
  const { value: end } = step;
  way.push(end.kind === "in-place" ? `in-place(${end.found})` : end.kind);
  expect(way).toEqual(expected);
});
