import { nearWord } from "../../src/base/near-word";

const COMMANDS = ["demo", "kubelet", "driver", "doctor"];

test.each([
  ["dmeo", "demo"],
  ["emo", "demo"],
  ["drvier", "driver"],
  ["demoo", "demo"],
  ["demo", "demo"],
  ["kublt", "kubelet"],
])("%s was meant to be %s", (word, meant) => {
  expect(nearWord(word, COMMANDS)).toBe(meant);
});

test.each(["", "d", "omed", "xmo", "xdmo", "kubectl", "register", "/csi/csi.sock", "true"])(
  "%j has no near word",
  (word) => {
    expect(nearWord(word, COMMANDS)).toBeUndefined();
  },
);

test("the nearest of several is taken, the first of equals", () => {
  expect(nearWord("delai", ["delta", "delay"])).toBe("delay");
  expect(nearWord("ba", ["bar", "baz"])).toBe("bar");
});
