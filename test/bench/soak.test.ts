import { DRIVERS, ROLES, roleOf } from "../../bench/soak/cast";
import { unexpectedLines } from "../../bench/soak/logs";
import { createPlan, type Kind, type Step, stepText, TITLES } from "../../bench/soak/plan";
import type { Holdings } from "../../bench/soak/registrar-process";
import { disturbanceTable, lifeTable } from "../../bench/soak/report";
import { driftOf, growths, type Life } from "../../bench/soak/statistics";

const KINDS = Object.keys(TITLES) as Kind[];

function firstOf(seed: number, count: number): readonly Step[] {
  const plan = createPlan(seed);
  return Array.from({ length: count }, () => plan.next().value);
}

describe("the plan", () => {
  test("follows from its seed", () => {
    expect(firstOf(7, 100)).toEqual(firstOf(7, 100));
    expect(firstOf(7, 100)).not.toEqual(firstOf(8, 100));
  });

  test.each([1, 2, 3])("has every kind that is not about peers once in each round, seed %d", (seed) => {
    const steps = firstOf(seed, 5 * KINDS.length);
    for (const kind of KINDS.filter((one) => !one.startsWith("peer-")))
      for (let from = 0; from < steps.length; from += KINDS.length) {
        const round = steps.slice(from, from + KINDS.length);
        expect([kind, round.filter((step) => step.kind === kind).length]).toEqual([kind, 1]);
      }
  });

  test.each([1, 2, 3])(
    "lets come only peers that are away, and go only those that are there, seed %d",
    (seed) => {
      const peers = new Set<string>();
      for (const { kind, driver } of firstOf(seed, 500)) {
        if (kind === "peer-comes") {
          expect(peers).not.toContain(driver);
          peers.add(driver);
        } else if (kind.startsWith("peer-")) {
          expect(peers).toContain(driver);
          peers.delete(driver);
        }
        expect(peers.size).toBeLessThanOrEqual(2);
      }
    },
  );

  test("meets every driver, and of the registrars only the restless ones", () => {
    const steps = firstOf(1, 500);
    expect(new Set(steps.map(({ driver }) => driver))).toEqual(new Set(DRIVERS));
    const restless = ROLES.filter(({ temper }) => temper === "restless").map(({ name }) => name);
    expect(new Set(steps.map(({ registrar }) => registrar))).toEqual(new Set(restless));
    for (const { amount, waitMs } of steps) {
      expect([0, amount, 1]).toEqual([0, amount, 1].sort((one, other) => one - other));
      expect([0, waitMs, 999]).toEqual([0, waitMs, 999].sort((one, other) => one - other));
    }
  });

  test("is told in few words", () => {
    const step = {
      number: 3,
      driver: "d.csi",
      registrar: "the restless",
      amount: 0.5,
      waitMs: 9,
      inHaste: false,
    };
    expect(stepText({ ...step, kind: "peer-comes" })).toBe("step 3: peer-comes d.csi 0.50");
    expect(stepText({ ...step, kind: "registrar-stops", inHaste: true })).toBe(
      "step 3: registrar-stops the restless 0.50 in haste",
    );
    expect(stepText({ ...step, kind: "kubelet-restarts" })).toBe("step 3: kubelet-restarts 0.50");
  });
});

test("each driver has one role, and a node-wide role's pattern fits its own drivers only", () => {
  expect(new Set(DRIVERS).size).toBe(DRIVERS.length);
  for (const { kind, name, drivers } of ROLES) {
    expect(drivers.map((driver) => roleOf(driver).name)).toEqual(drivers.map(() => name));
    if (kind === "sidecar") continue;
    const beginning = `${drivers[0]?.split("-")[0]}-`;
    expect(DRIVERS.filter((driver) => driver.startsWith(beginning))).toEqual(drivers);
  }
});

describe("the log", () => {
  const line = (severity: string, message: string) =>
    `${severity}1121 18:00:00.123000     123 a.ts:1] "${message}"`;
  test.each([
    ["an info line", line("I", "whatever"), false],
    ["an error that is expected", line("E", "Lost connection"), false],
    ["another error", line("E", "Registration cannot go on"), true],
    ["another warning", line("W", "Kubelet has not called"), true],
    ["a property that every object has", line("E", "toString"), true],
    ["something that is no line of the log", "(node:1) MaxListenersExceededWarning", true],
  ])("%s", (_what, text, isUnexpected) => {
    expect(unexpectedLines([text])).toEqual(isUnexpected ? [text] : []);
  });
});

describe("growth", () => {
  const holdings = (change: (position: number) => Partial<Holdings>): Life => ({
    name: "it",
    drivers: 1,
    holdings: Array.from({ length: 40 }, (_, position) => ({
      descriptors: 23,
      watches: 2,
      heap: 10 + (position % 3) / 10,
      anonymous: 20 + (position % 5) / 2,
      ...change(position),
    })),
  });

  test("compares the second and third eighth with the last quarter", () => {
    expect(driftOf([90, 1, 2, 50, 50, 50, 7, 9])).toEqual({ early: 1.5, late: 8 });
    expect(driftOf([])).toEqual({ early: Number.NaN, late: Number.NaN });
  });

  test.each<[string, (position: number) => Partial<Holdings>, string | undefined]>([
    ["what goes up and down", () => ({}), undefined],
    ["a start that needs more", (at) => (at < 4 ? { heap: 30 } : {}), undefined],
    ["one peak", (at) => (at === 38 ? { anonymous: 90, descriptors: 80 } : {}), undefined],
    ["a descriptor for each disturbance", (at) => ({ descriptors: 23 + at }), "descriptors"],
    ["a watch for every tenth", (at) => ({ watches: 2 + Math.floor(at / 10) }), "watches"],
    ["a tenth of a megabyte of heap each", (at) => ({ heap: 10 + at / 10 }), "heap"],
    ["half a megabyte of anonymous memory each", (at) => ({ anonymous: 20 + at / 2 }), "anonymous"],
  ])("%s", (_what, change, what) => {
    const found = growths(holdings(change));
    expect(found).toEqual(what ? [expect.stringContaining(`it: ${what} grew from`)] : []);
  });
});

describe("the report", () => {
  const lastRow = (table: string) => table.split("\n").at(-1)?.split(" | ").slice(1);

  test("has a row for each kind that happened, with figures of those that nothing followed at once", () => {
    const table = disturbanceTable([
      { kind: "socket-removed", settledAfterMs: 1_000 },
      { kind: "socket-removed", settledAfterMs: 2_040 },
      { kind: "socket-removed", settledAfterMs: undefined },
    ]);
    expect(table.split("\n")).toHaveLength(3);
    expect(lastRow(table)).toEqual(["3", "1.5", "2.0 |"]);
    expect(lastRow(disturbanceTable([{ kind: "peer-comes", settledAfterMs: undefined }]))).toEqual([
      "1",
      "",
      " |",
    ]);
  });

  test("has a row for each registrar that ran all the time", () => {
    const sample = { descriptors: 23, watches: 2, heap: 10.04, anonymous: 20.06 };
    const table = lifeTable([{ name: "it", drivers: 3, holdings: Array.from({ length: 8 }, () => sample) }]);
    expect(lastRow(table)).toEqual(["3", "23 → 23", "2 → 2", "10.0 → 10.0", "20.1 → 20.1 |"]);
  });
});
