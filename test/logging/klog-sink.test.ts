import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { buildSync } from "esbuild";
import { createJsonLine } from "../../src/logging/json-line";
import {
  createFdStream,
  createKlogSink,
  createPreciseClock,
  type KlogSinkOptions,
} from "../../src/logging/klog-sink";
import { createTextLine } from "../../src/logging/klog-text";
import { createLogger } from "../../src/logging/logger";

function setUp(format: "text" | "json", change: Partial<KlogSinkOptions> = {}) {
  const lines: string[] = [];
  const sink = createKlogSink({
    lineOf: format === "json" ? createJsonLine() : createTextLine(1),
    verbosity: 0,
    vmodule: [],
    stream: { write: (line) => lines.push(line) },
    now: () => 0,
    ...change,
  });
  return { log: createLogger(sink).named("csi-driver"), lines };
}

test("json: what does not fit JSON, what pino itself would act on, and what steers terminals", () => {
  const { log, lines } = setUp("json");
  const cycle: { self?: object } = {};
  cycle.self = cycle;
  log.info("%s", { cycle, big: 10n, nan: Number.NaN, throwing: { toJSON: () => JSON.parse("") } });
  const acted = { method: "m", headers: {}, socket: "s", level: 60, time: 1, err: null };
  log.info("Msg", { ...acted, esc: "\x1b\x9b\u2028" });
  const parsed = lines.map((line) => JSON.parse(line));
  expect(parsed[0]).toMatchObject({ msg: "%s", big: 10, nan: null, cycle: { self: "[Circular]" } });
  expect(parsed[1]).toMatchObject(acted);
  expect(lines[1]).toContain(String.raw`"esc":"\u001b\u009b\u2028"`);
});

test("verbosity by -v, raised for some files by -vmodule", () => {
  const { log, lines } = setUp("text", {
    verbosity: 1,
    vmodule: [
      { pattern: "csi*", verbosity: 4 },
      { pattern: "other", verbosity: 0 },
    ],
  });
  for (const file of ["csi-driver", "other"]) {
    const named = log.named(file);
    for (const verbosity of [0, 1, 2, 4, 5]) named.v(verbosity).info(`${file} ${verbosity}`);
    named.v(9).warn(`${file} warning`);
  }
  const written = lines.map((line) => /"(.*)"/.exec(line)?.[1]);
  const ofDriver = ["0", "1", "2", "4", "warning"].map((what) => `csi-driver ${what}`);
  expect(written).toEqual([...ofDriver, "other 0", "other 1", "other warning"]);
});

test("split streams take information apart from the rest", () => {
  const infos: string[] = [];
  const { log, lines } = setUp("text", { infoStream: { write: (line) => infos.push(line) } });
  log.info("information");
  log.warn("warning");
  log.error(undefined, "error");
  expect(infos).toEqual([expect.stringContaining("information")]);
  expect(lines).toEqual([expect.stringContaining("warning"), expect.stringContaining("error")]);
});

test("every line is out before an exit on the next statement, in the zone of TZ", async () => {
  const { outputFiles } = buildSync({
    stdin: { contents: PROGRAM, resolveDir: join(__dirname, "../../src/logging"), loader: "ts" },
    bundle: true,
    platform: "node",
    write: false,
  });
  const child = spawn(process.execPath, ["-e", outputFiles[0]?.text ?? ""], {
    env: { ...process.env, TZ: "Asia/Kolkata" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [output, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  const lines = output.trimEnd().split("\n");
  expect(code).toBe(3);
  expect(lines).toHaveLength(1001);
  expect(lines[0]).toBe(
    `I1115 03:43:20.000000 ${String(child.pid).padStart(7)} main.ts:7] "Msg" n=0 pad="${"x".repeat(200)}"`,
  );
  expect(lines[1000]).toMatch(/^E1115 .* main\.ts:9\] "last" err="boom"$/);
});

const PROGRAM = `
import { createFdStream, createKlogSink } from "./klog-sink";
import { createTextLine } from "./klog-text";
import { createLogger } from "./logger";

const stream = createFdStream(2);
const options = { lineOf: createTextLine(process.pid), verbosity: 0, vmodule: [], stream, now: () => 1700000000000 };
const log = createLogger(createKlogSink(options)).named("main");
for (let n = 0; n < 1000; n += 1) log.at(7).info("Msg", { n, pad: "x".repeat(200) });
log.at(9).error(new Error("boom"), "last");
process.exit(3);
`;

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;
let folder: string;
const descriptors: number[] = [];

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "fd-stream-"));
});

afterEach(() => {
  jest.restoreAllMocks();
  for (const fd of descriptors.splice(0)) fs.closeSync(fd);
  fs.rmSync(folder, { recursive: true });
});

function open(path: string, flags: number | string): number {
  const fd = fs.openSync(path, flags);
  descriptors.push(fd);
  return fd;
}

/** Both ends of a pipe that never blocks. */
function openPipe() {
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  return { reader: open(path, O_RDONLY | O_NONBLOCK), writer: open(path, O_WRONLY | O_NONBLOCK) };
}

function read(fd: number): string {
  const buffer = Buffer.alloc(1 << 20);
  return buffer.toString("utf8", 0, fs.readSync(fd, buffer));
}

test("a line is in the file when write returns", () => {
  const path = join(folder, "log");
  const stream = createFdStream(open(path, "a"));
  stream.write("one é\n");
  expect(fs.readFileSync(path, "utf8")).toBe("one é\n");
  stream.write("two\n");
  expect(fs.readFileSync(path, "utf8")).toBe("one é\ntwo\n");
});

test("a full pipe costs the line, not the process, and the next line is written again", () => {
  const { reader, writer } = openPipe();
  const filler = Buffer.alloc(1 << 20, "x");
  expect(() => {
    for (;;) fs.writeSync(writer, filler);
  }).toThrow(expect.objectContaining({ code: "EAGAIN" }));
  const stream = createFdStream(writer);
  stream.write("lost\n");
  expect(read(reader)).toMatch(/^x+$/);
  stream.write("found\n");
  expect(read(reader)).toBe("found\n");
});

test("a slow reader gets the whole line, in as many pieces as it takes", () => {
  const path = join(folder, "log");
  const fd = open(path, "a");
  const text = "0123456789".repeat(10);
  const { writeSync } = fs;
  let calls = 0;
  const slowWrite = (target: number, bytes: Buffer) => {
    calls += 1;
    if (calls % 2 === 1) throw Object.assign(new Error("full"), { code: "EAGAIN" });
    return writeSync(target, bytes, 0, 4);
  };
  jest.spyOn(fs, "writeSync").mockImplementation(slowWrite as typeof writeSync);
  createFdStream(fd).write(text);
  expect(fs.readFileSync(path, "utf8")).toBe(text);
});

test("the line behind one that was torn begins on a line of its own", () => {
  const path = join(folder, "log");
  const fd = open(path, "a");
  const { writeSync } = fs;
  const answers: (number | "ENOSPC")[] = [4, "ENOSPC", "ENOSPC", 100];
  const fullDisk = (target: number, bytes: Buffer) => {
    const answer = answers.shift() ?? 100;
    if (answer === "ENOSPC") throw Object.assign(new Error("full"), { code: answer });
    return writeSync(target, bytes, 0, Math.min(answer, bytes.length));
  };
  jest.spyOn(fs, "writeSync").mockImplementation(fullDisk as typeof writeSync);
  const stream = createFdStream(fd);
  stream.write("torn line\n");
  stream.write("lost line\n");
  stream.write("third\n");
  stream.write("fourth\n");
  expect(fs.readFileSync(path, "utf8")).toBe("torn\nthird\nfourth\n");
});

test("a reader that went away is no error", () => {
  const { reader, writer } = openPipe();
  fs.closeSync(reader);
  descriptors.splice(descriptors.indexOf(reader), 1);
  expect(() => fs.writeSync(writer, "x")).toThrow(expect.objectContaining({ code: "EPIPE" }));
  expect(createFdStream(writer).write("x\n")).toBeUndefined();
  expect(createFdStream(1_000_000).write("a descriptor that is closed\n")).toBeUndefined();
});

afterEach(() => jest.restoreAllMocks());

/** What the clock shows while the two clocks of the process show these. */
function shown(wall: number[], monotonic: number[]): readonly number[] {
  const clock = createPreciseClock();
  return wall.map((wallMs, index) => {
    jest.spyOn(Date, "now").mockReturnValue(wallMs);
    jest.spyOn(performance, "now").mockReturnValue(monotonic[index] ?? 0);
    return clock();
  });
}

test("the clock tells fractions of a millisecond, and never goes back with them", () => {
  expect(shown([1000, 1000, 1000, 1001], [10, 10.25, 10.5, 11.75])).toEqual([1000, 1000.25, 1000.5, 1001.75]);
});

test("where the system's clock is set the clock follows, forward and back", () => {
  expect(shown([1000, 5000, 400], [10, 10, 10])).toEqual([1000, 5000, 400]);
});
