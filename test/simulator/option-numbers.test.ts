import { readFileSync } from "node:fs";
import { readOptions } from "../../src/options/read-options";
import { resolveCsiDriverOptions } from "../../src/simulator/driver/options";
import { WAIT_OPTIONS } from "../../src/simulator/event-stream";
import { type KubeletTimings, resolveKubeletOptions } from "../../src/simulator/kubelet/options";

const kubelet = (given: object) => resolveKubeletOptions({ pluginRegistrationPath: "/r", ...given });
const driver = (given: object) => resolveCsiDriverOptions({ csiAddress: "/s", name: "x", ...given });
const slowKubelet = { kind: "slow", before: "GetInfo", delayMs: 1 };
const slowDriver = { kind: "slow", method: "Probe", delayMs: 1 };
const timings: readonly (keyof KubeletTimings)[] = [
  ...(["dialMs", "connectMs", "getInfoMs", "notifyMs", "nodeGetInfoMs"] as const),
  ...(["backoffInitialMs", "backoffMaxMs"] as const),
];

type Row = readonly [option: string, read: (value: unknown) => unknown];
/** How often, more than 0; how long to wait for, more than 0; how late, also 0; an answer, which may be wrong. */
const COUNTS: readonly Row[] = [
  ["times", (times) => kubelet({ faults: [{ ...slowKubelet, times }] })],
  ["times", (times) => kubelet({ faults: [{ kind: "refuse", error: "", times }] })],
  ["times", (times) => kubelet({ faults: [{ kind: "drop-before-status", times }] })],
  ["times", (times) => driver({ faults: [{ ...slowDriver, times }] })],
  ["times", (times) => driver({ faults: [{ kind: "error", method: "Probe", code: "ABORTED", times }] })],
  ["times", (times) => driver({ faults: [{ kind: "hang", method: "Probe", times }] })],
  ["times", (times) => driver({ faults: [{ kind: "not-ready", times }] })],
];
const WAITS: readonly Row[] = [
  ["waitTimeoutMs", (waitTimeoutMs) => kubelet({ waitTimeoutMs })],
  ["waitTimeoutMs", (waitTimeoutMs) => driver({ waitTimeoutMs })],
  ["timeoutMs", (timeoutMs) => readOptions("when", { timeoutMs }, WAIT_OPTIONS)],
  ["reconcilePeriodMs", (reconcilePeriodMs) => kubelet({ reconcilePeriodMs })],
  ...timings.map((name): Row => [name, (value) => kubelet({ timings: { [name]: value } })]),
];
const DELAYS: readonly Row[] = [
  ["delayMs", (delayMs) => kubelet({ faults: [{ ...slowKubelet, delayMs }] })],
  ["delayMs", (delayMs) => driver({ faults: [{ ...slowDriver, delayMs }] })],
  ["listenAfterMs", (listenAfterMs) => driver({ listenAfterMs })],
];
const ANSWERS: readonly Row[] = [["maxVolumes", (maxVolumes) => driver({ maxVolumes })]];

const NO_NUMBER = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, "1", true, null, 1n, [1]];
const LATEST = 2 ** 31 - 1;
const LAWS: readonly [rows: readonly Row[], takes: readonly unknown[], refuses: readonly unknown[]][] = [
  [COUNTS, [1, 7, Number.MAX_SAFE_INTEGER], [0, -1, 1.5, 2 ** 53]],
  [WAITS, [1, 0.5, LATEST], [0, -1, LATEST + 1]],
  [DELAYS, [0, 0.5, LATEST], [-1, LATEST + 1]],
  [ANSWERS, [0, -1, Number.MAX_SAFE_INTEGER], [1.5, 2 ** 53]],
];

test.each(LAWS.flatMap(([rows, ...law]) => rows.map((row) => [...row, ...law] as const)))(
  "%s of the test kit refuses every number out of its range: %#",
  (option, read, takes, refuses) => {
    for (const value of takes) expect(() => read(value)).not.toThrow();
    const message = expect.stringContaining(`${option} is `);
    for (const value of [...NO_NUMBER, ...refuses])
      expect(() => read(value)).toThrow(expect.objectContaining({ code: "INVALID_OPTION", message }));
  },
);

test("every number among the kit's options is in a law", () => {
  const files = ["kubelet/options.ts", "driver/options.ts", "simulator-options.ts"];
  const texts = files.map((file) => readFileSync(`${__dirname}/../../src/simulator/${file}`, "utf8"));
  const names = [...texts.join().matchAll(/readonly (\w+)\??: number\b/g)].map(([, name]) => name);
  const known = LAWS.flatMap(([rows]) => rows.map(([option]) => option));
  expect(names).toEqual(expect.arrayContaining(["times", "delayMs"]));
  expect(known).toEqual(expect.arrayContaining(names));
});
