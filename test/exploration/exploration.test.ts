import { explore } from "./explore";
import type { Setup } from "./world";

const KUBELETS = [false, true];
const POLICIES = ["exit", "retry", "node-wide"] as const;
const alone: Setup = { kubeletForgets: false, ours: ["retry"], officials: 0, faults: 1 };

/** Each is gone through to its end: no order of steps leads to what must not happen. */
const SETUPS: readonly Setup[] = KUBELETS.flatMap((kubeletForgets) => [
  ...POLICIES.map((policy) => ({ ...alone, kubeletForgets, ours: [policy], deadFile: true })),
  { ...alone, kubeletForgets, officials: 1 },
  { ...alone, kubeletForgets, ours: ["node-wide", "node-wide"] },
]);

test.each([...SETUPS, { ...alone, kubeletForgets: true, ours: ["retry", "retry"] } as Setup])(
  "no order of steps harms: %j",
  (setup) => {
    const { counterexample, states } = explore(setup);
    expect(counterexample).toBeUndefined();
    expect(states).toBeGreaterThan(1_000);
  },
);

/** What was mended is found when it is undone: the steps that the story must have, in this order. */
test.each<[Setup["undone"], officials: number, string, readonly string[]]>([
  [
    "name-by-publication",
    0,
    "GetInfo over a answers b",
    ["kubelet dials a", "FAULT: the driver comes back as b", "kubelet calls GetInfo over a"],
  ],
  [
    "lost-status",
    0,
    "unregistered, or a registrar does not hear of it",
    ["FAULT: registrar 0 is frozen", "kubelet reports its status for a over a", "registrar 0 goes on"],
  ],
  [
    "withdrawn-refusal",
    0,
    "unregistered, or a registrar does not hear of it",
    [
      "registrar 0 publishes: withdrawOther",
      "registrar 0 publishes: link",
      "NodeGetInfo answers",
      "kubelet deregisters a",
    ],
  ],
  [
    "remove-before-close",
    1,
    "registrar 0 removes another's socket a",
    [
      "the official registrar removes what is at its path",
      "registrar 0 stops listening",
      "the official registrar binds",
      "registrar 0 removes its socket",
    ],
  ],
  [
    "settle",
    1,
    "the official registrar exits: its place was taken while it starts",
    [
      "the official registrar removes what is at its path",
      "registrar 0 publishes: link",
      "the official registrar binds",
    ],
  ],
])("without %s: a story", (undone, officials, what, steps) => {
  const { counterexample } = explore({ ...alone, officials, ...(undone && { undone }) });
  expect(counterexample?.what).toContain(what);
  const story = counterexample?.story ?? [];
  const places = steps.map((step) => story.lastIndexOf(step));
  expect([...places].sort((a, b) => a - b)).toEqual(places);
  expect(places).not.toContain(-1);
});
