import { messageOf } from "../../src/base/errors";
import * as objects from "../../src/kube-api/objects";

const { anyNameOf, anyText, anyTree, bool, boolOrNone, isMap, list, mapOf, unlikeFieldIn } = objects;
const { nameOf, needed, numberOrNone, text, textOrNone, textOrNumber, timeOrNone, tree } = objects;
const READERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  ...{ isMap, tree, mapOf, anyTree, list, text, textOrNumber, textOrNone, anyText },
  ...{ numberOrNone, boolOrNone, bool, timeOrNone, nameOf, anyNameOf },
  needed: (value) => needed("image", value),
};
const VALUES: readonly unknown[] = [
  ...[undefined, null, "", "word", 0, 1.5, false, true, "x".repeat(200)],
  ...[[], ["a"], ["a", null], {}, { a: 1, b: null }, "2026-01-02T03:04:05Z", "2026-13-01"],
  ...[{ name: "n" }, { name: "n", namespace: "ns" }, { namespace: "ns", name: 5 }, "n"].map((metadata) => ({
    metadata,
  })),
];

const shown = (value: unknown) =>
  (JSON.stringify(value) ?? "undefined").replace(/x{9,}/g, (run) => `x{${run.length}}`);

/** What a reader makes of a value; of a refusal everything but how it shows the value. */
function outcomeOf(read: (value: unknown) => unknown, value: unknown): string {
  try {
    const result = read(value);
    return result === value ? "as it is" : shown(result);
  } catch (error) {
    const { kind, has, wanted } = Object(Object(error).cause);
    return `refused: ${messageOf(error).replace(` ${has} `, " ... ")} ${kind ?? ""} ${wanted ?? ""}`.trimEnd();
  }
}

test("what each reader of a field makes of each value, or how it refuses it", () => {
  const lines = Object.entries(READERS).flatMap(([name, read]) => {
    const outcomes = VALUES.map((value) => [outcomeOf(read, value), shown(value)] as const);
    const different = [...new Set(outcomes.map(([outcome]) => outcome))];
    const valuesOf = (wanted: string) =>
      outcomes.flatMap(([outcome, value]) => (outcome === wanted ? [value] : [])).join(" ");
    return [name, ...different.map((outcome) => `  ${outcome}\n    ${valuesOf(outcome)}`)];
  });
  const refusals = VALUES.map((value) => {
    try {
      return shown(timeOrNone(value));
    } catch (error) {
      return messageOf(error).replace(/x{9,}/, "xxx");
    }
  });
  expect(["", ...lines, ...refusals, ""].join("\n")).toMatchSnapshot();
});

test("the field of a refused value is found by reading its object again, whatever has an equal value", () => {
  const shared = { args: [{}] };
  const object = {
    spec: {
      containers: [
        { args: [{}], name: true },
        { ...shared, env: shared, tty: true },
      ],
    },
  };
  const read = (wanted: (containers: Record<string, unknown>[]) => unknown) => (one: unknown) =>
    void text(wanted(Object(one).spec.containers));
  const find = (value: unknown, wanted: Parameters<typeof read>[0]) =>
    unlikeFieldIn(value, object, read(wanted));
  expect(find(shared.args, (all) => Object(all[1]?.env).args)).toBe("spec.containers[1].env.args");
  expect(find(true, (all) => all[0]?.name)).toBe("spec.containers[0].name");
  expect(unlikeFieldIn(7, { "1st": 7 }, (one) => void text(Object(one)["1st"]))).toBe("1st");
  expect([find({}, () => ({})), unlikeFieldIn(object, object, text), find(7, () => 7)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
