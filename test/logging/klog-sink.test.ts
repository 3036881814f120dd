import fs from "node:fs";
import { createJsonLine } from "../../src/logging/json-line";
import { createKlogSink, createLineWriter, createPreciseClock } from "../../src/logging/klog-sink";
import { createTextLine } from "../../src/logging/klog-text";
import { createLogger } from "../../src/logging/logger";
import type { VmoduleRule } from "../../src/logging/logging-options";
import { eachTest } from "../support/each-test";
import { createTempFolder } from "../support/temp-folder";

function setUp(
  lineOf: ReturnType<typeof createTextLine>,
  verbosity = 0,
  vmodule: readonly VmoduleRule[] = [],
) {
  const [lines, infos]: [string[], string[]] = [[], []];
  const error = (line: string) => void lines.push(line);
  const info = (line: string) => void infos.push(line);
  const sink = createKlogSink({ verbosity, vmodule }, lineOf, { info, warning: error, error });
  return { log: createLogger(sink).named("csi-driver"), lines, infos };
}

test("the JSON sink writes values outside JSON, keys that pino acts on, and control characters safely", () => {
  const { log, infos } = setUp(createJsonLine());
  const cycle: { self?: object } = {};
  cycle.self = cycle;
  log.info("%s", { cycle, big: 10n, nan: Number.NaN, throwing: { toJSON: () => JSON.parse("") } });
  const acted = { method: "m", headers: {}, socket: "s", level: 60, time: 1, err: null };
  log.info("Msg", { ...acted, esc: "\x1b\x9b\u2028" });
  const parsed = infos.map((line) => JSON.parse(line));
  expect(parsed[0]).toMatchObject({ msg: "%s", big: 10, nan: null, cycle: { self: "[Circular]" } });
  expect(parsed[1]).toMatchObject(acted);
  expect(infos[1]).toContain(String.raw`"esc":"\u001b\u009b\u2028"`);
});

test("-v and -vmodule select info lines; warnings and errors are always written, apart from them", () => {
  const rules = [
    { pattern: "csi*", verbosity: 4 },
    { pattern: "other", verbosity: 0 },
  ];
  const { log, lines, infos } = setUp(createTextLine(1), 1, rules);
  for (const file of ["csi-driver", "other"]) {
    for (const verbosity of [0, 1, 2, 4, 5]) log.named(file).v(verbosity).info(`${file} ${verbosity}`);
    log.named(file).v(9).warn("warning");
  }
  log.error(undefined, "error");
  const written = (all: string[]) => all.map((line) => /"(.*)"/.exec(line)?.[1]).join(", ");
  expect(written(infos)).toBe("csi-driver 0, csi-driver 1, csi-driver 2, csi-driver 4, other 0, other 1");
  expect(written(lines)).toBe("warning, warning, error");
});

const folder = eachTest(createTempFolder);

/** What is in a file after lines whose writes have these outcomes: the most bytes that one takes, or its error. */
function writtenWith(outcomes: readonly (number | string)[], ...lines: readonly string[]): string {
  const path = folder.at("log");
  const fd = fs.openSync(path, "a");
  const write = createLineWriter(fd);
  const { writeSync } = fs;
  const left = [...outcomes];
  jest.spyOn(fs, "writeSync").mockImplementation(((fd: number, bytes: Buffer) => {
    const outcome = left.shift() ?? bytes.length;
    if (typeof outcome === "string") throw Object.assign(new Error("full"), { code: outcome });
    return writeSync(fd, bytes, 0, Math.min(outcome, bytes.length));
  }) as typeof writeSync);
  for (const line of lines) write(line);
  fs.closeSync(fd);
  return fs.readFileSync(path, "utf8");
}

const SLOW = Array.from({ length: 50 }, (_, index) => (index % 2 ? 4 : "EAGAIN"));
const TEXT = `é${"0123456789".repeat(9)}`;

test.each<[string, readonly (number | string)[], readonly string[], string]>([
  ["a slow reader gets the whole line, in as many pieces as it takes", SLOW, [TEXT], TEXT],
  [
    "a full pipe costs the line, and the next one is written",
    Array(20).fill("EAGAIN"),
    ["a\n", "b\n"],
    "b\n",
  ],
  ["a reader that went away is no error", ["EPIPE"], ["a\n"], ""],
  [
    "the line behind one that was torn begins on a line of its own",
    [4, "ENOSPC", "ENOSPC"],
    ["torn line\n", "lost line\n", "third\n", "fourth\n"],
    "torn\nthird\nfourth\n",
  ],
])("%s", (_what, outcomes, lines, written) => {
  expect(writtenWith(outcomes, ...lines)).toBe(written);
});

test("the log's clock has microseconds, and follows the system clock when that is set", () => {
  const clock = createPreciseClock();
  const shown = ["1000 10 1000", "1000 10.25 1000.25", "1001 11.75 1001.75", "5000 12 5000", "400 12 400"];
  for (const [wall, monotonic, expected] of shown.map((row) => row.split(" ").map(Number))) {
    jest.spyOn(Date, "now").mockReturnValue(wall ?? 0);
    jest.spyOn(performance, "now").mockReturnValue(monotonic ?? 0);
    expect(clock()).toBe(expected);
  }
});
