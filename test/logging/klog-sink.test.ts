import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
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
  const sink = createKlogSink({
    ...{ lineOf, verbosity, vmodule },
    writeLine: (line) => lines.push(line),
    writeInfo: (line) => infos.push(line),
  });
  return { log: createLogger(sink).named("csi-driver"), lines, infos };
}

test("json: what does not fit JSON, what pino itself would act on, and what steers terminals", () => {
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

test("verbosity by -v, raised for some files by -vmodule; warnings and errors go apart, whatever it is", () => {
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

test("every line is out before an exit on the next statement, in the zone of TZ", () => {
  const resolveDir = join(__dirname, "../../src/logging");
  const stdin = { contents: PROGRAM, resolveDir, loader: "ts" } as const;
  const { outputFiles } = buildSync({ stdin, bundle: true, platform: "node", write: false });
  const env = { ...process.env, TZ: "Asia/Kolkata" };
  const { pid, status, stderr } = spawnSync(process.execPath, ["-e", outputFiles[0]?.text ?? ""], { env });
  const lines = String(stderr).trimEnd().split("\n");
  expect([status, lines.length]).toEqual([3, 1001]);
  expect(lines[0]).toBe(
    `I1115 03:43:20.000000 ${String(pid).padStart(7)} main.ts:7] "Msg" n=0 pad="${"x".repeat(200)}"`,
  );
  expect(lines[1000]).toMatch(/^E1115 .* main\.ts:9\] "last" err="boom"$/);
});

const PROGRAM = `
import { createKlogSink, createLineWriter } from "./klog-sink";
import { createTextLine } from "./klog-text";
import { createLogger } from "./logger";

Date.now = () => 1700000000000;
const writeLine = createLineWriter(2);
const options = { lineOf: createTextLine(process.pid), verbosity: 0, vmodule: [], writeLine, writeInfo: writeLine };
const log = createLogger(createKlogSink(options)).named("main");
for (let n = 0; n < 1000; n += 1) log.at(7).info("Msg", { n, pad: "x".repeat(200) });
log.at(9).error(new Error("boom"), "last");
process.exit(3);
`;

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;
const folder = eachTest(createTempFolder);
const descriptors: number[] = [];
afterEach(() => {
  jest.restoreAllMocks();
  for (const fd of descriptors.splice(0)) fs.closeSync(fd);
});

function open(path: string, flags: number | string): number {
  const fd = fs.openSync(path, flags);
  descriptors.push(fd);
  return fd;
}

/** Both ends of a pipe that never blocks. */
function openPipe() {
  const path = folder.at("pipe");
  execFileSync("mkfifo", [path]);
  return { reader: open(path, O_RDONLY | O_NONBLOCK), writer: open(path, O_WRONLY | O_NONBLOCK) };
}

function read(fd: number): string {
  const buffer = Buffer.alloc(1 << 20);
  return buffer.toString("utf8", 0, fs.readSync(fd, buffer));
}

test("a full pipe costs the line, not the process, and the next line is written again", () => {
  const { reader, writer } = openPipe();
  const filler = Buffer.alloc(1 << 20, "x");
  expect(() => {
    for (;;) fs.writeSync(writer, filler);
  }).toThrow(expect.objectContaining({ code: "EAGAIN" }));
  const write = createLineWriter(writer);
  write("lost\n");
  expect(read(reader)).toMatch(/^x+$/);
  write("found\n");
  expect(read(reader)).toBe("found\n");
});

/** What is in a file after lines whose writes have these outcomes: the most bytes that one takes, or its error. */
function writtenWith(outcomes: readonly (number | string)[], ...lines: readonly string[]): string {
  const path = folder.at("log");
  const write = createLineWriter(open(path, "a"));
  const { writeSync } = fs;
  const left = [...outcomes];
  jest.spyOn(fs, "writeSync").mockImplementation(((fd: number, bytes: Buffer) => {
    const outcome = left.shift() ?? bytes.length;
    if (typeof outcome === "string") throw Object.assign(new Error("full"), { code: outcome });
    return writeSync(fd, bytes, 0, Math.min(outcome, bytes.length));
  }) as typeof writeSync);
  for (const line of lines) write(line);
  return fs.readFileSync(path, "utf8");
}

const SLOW = Array.from({ length: 50 }, (_, index) => (index % 2 ? 4 : "EAGAIN"));

test("a slow reader gets the whole line, in as many pieces as it takes", () => {
  const text = `é${"0123456789".repeat(9)}`;
  expect(writtenWith(SLOW, text)).toBe(text);
});

test("the line behind one that was torn begins on a line of its own", () => {
  const lines = ["torn line\n", "lost line\n", "third\n", "fourth\n"];
  expect(writtenWith([4, "ENOSPC", "ENOSPC"], ...lines)).toBe("torn\nthird\nfourth\n");
});

test("a reader that went away is no error", () => {
  const { reader, writer } = openPipe();
  fs.closeSync(reader);
  descriptors.splice(descriptors.indexOf(reader), 1);
  expect(() => fs.writeSync(writer, "x")).toThrow(expect.objectContaining({ code: "EPIPE" }));
  expect(() => createLineWriter(writer)("x\n")).not.toThrow();
  expect(() => createLineWriter(1_000_000)("a descriptor that is closed\n")).not.toThrow();
});

test("the clock tells fractions of a millisecond, and follows the system's where it is set", () => {
  const clock = createPreciseClock();
  const shown = ["1000 10 1000", "1000 10.25 1000.25", "1001 11.75 1001.75", "5000 12 5000", "400 12 400"];
  for (const [wall, monotonic, expected] of shown.map((row) => row.split(" ").map(Number))) {
    jest.spyOn(Date, "now").mockReturnValue(wall ?? 0);
    jest.spyOn(performance, "now").mockReturnValue(monotonic ?? 0);
    expect(clock()).toBe(expected);
  }
});
