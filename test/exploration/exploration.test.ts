import { explore } from "./explore";
import type { Setup } from "./world";

const KUBELETS = [false, true];
const POLICIES = ["exit", "retry", "node-wide"] as const;
const alone: Setup = { kubeletForgets: false, ours: ["retry"], officials: 0, faults: 1 };

/** Each is gone through to its end: no order of steps leads to what must not happen. */
const SETUPS: readonly Setup[] = KUBELETS.flatMap((kubeletForgets) => [
  ...POLICIES.map((policy) => ({ ...alone, kubeletForgets, ours: [policy], deadFile: true })),
  { ...alone, kubeletForgets, officials: 1 },
  { ...alone, kubeletForgets, strangers: true },
  { ...alone, kubeletForgets, slowLook: true },
  { ...alone, kubeletForgets, backoff: true, deadFile: true },
  { ...alone, kubeletForgets, ours: ["retry", "retry"], faults: 0, backoff: true, deadFile: true },
  { ...alone, kubeletForgets, ours: ["exit", "exit"], undone: "move" },
  ...POLICIES.map((policy) => ({ ...alone, kubeletForgets, ours: [policy], faults: 0, pending: true })),
]);

// Where kubelet calls each time before a registrar moves, for what would take minutes.
const TWO: Setup = { ...alone, kubeletForgets: true, ours: ["retry", "retry"], undone: "move" };
const NODE_WIDE: Setup = { ...TWO, ours: ["node-wide", "node-wide"] };

test.each([...SETUPS, TWO, NODE_WIDE])("no order of steps violates a promise: %j", (setup) => {
  const { counterexample, states } = explore(setup);
  expect(counterexample).toBeUndefined();
  expect(states).toBeGreaterThan(100);
});

/** What was mended is found when it is undone: the steps that the story must have, in this order. */
const LASTS = "unregistered, or a registrar does not hear of it";
test.each<[Partial<Setup>, string, readonly string[]]>([
  [
    { undone: "name-by-publication" },
    "GetInfo over a answers b",
    ["kubelet dials a", "FAULT: the driver comes back as b", "kubelet calls GetInfo over a"],
  ],
  [
    { undone: "lost-status" },
    LASTS,
    ["FAULT: registrar 0 is frozen", "kubelet reports its status for a over a", "registrar 0 goes on"],
  ],
  [
    { undone: "withdrawn-refusal" },
    LASTS,
    [
      "registrar 0 publishes: withdrawOther",
      "registrar 0 publishes: isPlace",
      "NodeGetInfo answers",
      "kubelet deregisters a",
    ],
  ],
  [
    { undone: "remove-before-close", officials: 1 },
    "registrar 0 removes another's socket a",
    [
      "the official registrar removes what is at its path",
      "registrar 0 stops listening",
      "the official registrar binds",
      "registrar 0 removes its socket",
    ],
  ],
  [
    { undone: "settle", officials: 1 },
    "the official registrar exits: its place was taken while it starts",
    [
      "the official registrar removes what is at its path",
      "registrar 0 publishes: isPlace",
      "the official registrar binds",
    ],
  ],
  [
    { undone: "any-client", strangers: true },
    "a stranger's GetInfo counts",
    ["kubelet reports its status for a over a", "FAULT: a stranger calls GetInfo at registrar 0"],
  ],
  [
    { undone: "unknown-client", strangers: true, faults: 2 },
    LASTS,
    ["kubelet reports its status for a over a", "FAULT: a stranger calls GetInfo at registrar 0 and stays"],
  ],
  [
    { undone: "missed-call", backoff: true, faults: 2, kubeletForgets: true },
    LASTS,
    ["FAULT: registrar 0 is frozen", "kubelet calls GetInfo over a", "registrar 0 goes on"],
  ],
  [
    { undone: "last-look", ours: ["exit", "exit"], faults: 0 },
    "a registrar exits: it has published the driver beside another",
    [
      "registrar 0 moves from the backoff",
      "registrar 0 publishes: withdrawOther",
      "registrar 1 publishes: judge",
      "registrar 0 publishes: link",
      "registrar 1 publishes: isPlace",
    ],
  ],
  [
    { undone: "return", ours: ["exit"] },
    "a registrar ends, or stands by, because it supposed a backoff",
    [
      "FAULT: registrar 0 is killed",
      "registrar 0 moves from the backoff",
      "kubelet refuses a over a_1, which it has",
    ],
  ],
  [{ undone: "move", backoff: true }, LASTS, ["kubelet dials a in vain", "registrar 0 publishes: isPlace"]],
])("without %j the explorer finds a story", (setup, what, steps) => {
  const { counterexample } = explore({ ...alone, ...setup });
  expect(counterexample?.what).toContain(what);
  const story = counterexample?.story ?? [];
  const places = steps.map((step) => story.lastIndexOf(step));
  expect([...places].sort((a, b) => a - b)).toEqual(places);
  expect(places).not.toContain(-1);
});
