import { learn } from "../../../src/node-readiness/known-node";
import type { Freedoms } from "./api-server";
import { explore } from "./explore";

test.each<[Freedoms, deepest: number, atLeast: number]>([
  [{ writes: 2 }, 12, 80],
  [{ writes: 1, deletions: 1 }, 11, 500],
  [{ breaks: 1, writes: 1, deletions: 1 }, 10, 1_500],
  [{ restores: 1, writes: 1 }, 11, 200],
  [{ listsLater: true, writes: 3 }, 10, 200],
])("no order of steps violates a promise: %j", async (freedoms, deepest, atLeast) => {
  const { counterexample, states } = await explore(freedoms, deepest);
  expect(counterexample).toBeUndefined();
  expect(states).toBeGreaterThan(atLeast);
});

type Rule = typeof learn;
const anyNode: Rule = (known, news) =>
  news.kind === "answered" ? { ...known, node: news.node } : learn(known, news);
const anyTime: Rule = (known, news) =>
  news.kind === "answered" ? learn(known, { ...news, reads: known.reads }) : learn(known, news);

const anyVersion: Rule = (known, news) =>
  news.kind === "answered" && known.node?.uid === news.node.uid
    ? { ...known, node: news.node }
    : learn(known, news);

/** What was mended is found when it is undone: steps that the story must have, in this order. */
test.each<[what: string, Rule, Freedoms, readonly string[]]>([
  [
    "an answer about another Node counts",
    anyNode,
    { deletions: 1 },
    ["handles the PATCH", "is made again", "tells of version 14", "answer to the PATCH"],
  ],
  [
    "an older answer counts",
    anyVersion,
    { writes: 1 },
    ["handles the PATCH", "changes our taint", "tells of version 13", "answer to the PATCH"],
  ],
  [
    "an answer of before etcd was restored counts",
    anyTime,
    { restores: 1 },
    ["handles the PATCH", "etcd is restored", "answer to the GET of the Node", "answer to the PATCH"],
  ],
])("where %s the explorer finds a story", async (_what, rule, freedoms, steps) => {
  const { counterexample } = await explore(freedoms, 12, rule);
  expect(counterexample?.what).toBe("the taint stays");
  let at = -1;
  for (const step of steps) {
    at = counterexample?.story.findIndex((one, place) => place > at && one.includes(step)) ?? -1;
    expect([step, at]).not.toContain(-1);
  }
});
