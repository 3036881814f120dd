import { replay, storiesOf } from "./replay";
import type { Setup } from "./world";

const EXIT: Setup = { kubeletForgets: true, ours: ["exit"], officials: 0, faults: 1, deadFile: true };
const RETRY: Setup = { ...EXIT, ours: ["retry"] };
const NODE_WIDE: Setup = { ...EXIT, ours: ["node-wide"] };
const ALONE = [
  EXIT,
  RETRY,
  NODE_WIDE,
  { ...RETRY, kubeletForgets: false },
  { ...RETRY, strangers: true },
  { ...RETRY, slowLook: true },
];
const BESIDE = [EXIT, RETRY, NODE_WIDE].map((one) => ({ ...one, officials: 1, deadFile: false }));

/** `npm run explore` goes to the end alone, which is 53 steps, and twice as far beside the official registrar. */
const isLong = process.env.REPLAY === "long";

test.each([
  ...ALONE.map((setup) => [isLong ? 99 : 14, setup] as const),
  ...BESIDE.map((setup) => [isLong ? 14 : 8, setup] as const),
])(
  "in %d steps the real registration does what the explorer's does: %j",
  async (deepest, setup) => {
    let steps = 0;
    for (const one of storiesOf(setup, deepest)) {
      await replay(setup, one);
      steps += one.story.length - one.known;
    }
    process.stdout.write(`${steps} different steps are the same: ${JSON.stringify(setup)}\n`);
    expect(steps).toBeGreaterThan(900);
  },
  900_000,
);
