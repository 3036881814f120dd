import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { buildSync } from "esbuild";
import { createJsonLine } from "../../src/logging/json-line";
import { createKlogSink, type KlogSinkOptions } from "../../src/logging/klog-sink";
import { textLine } from "../../src/logging/klog-text";
import { createLogger } from "../../src/logging/logger";

const noon = new Date(2024, 0, 2, 12).getTime();

function setUp(format: "text" | "json", change: Partial<KlogSinkOptions> = {}) {
  const lines: string[] = [];
  const sink = createKlogSink({
    lineOf: format === "json" ? createJsonLine() : textLine,
    verbosity: 0,
    vmodule: [],
    pid: 1,
    stream: { write: (line) => lines.push(line) },
    now: () => noon,
    ...change,
  });
  return { log: createLogger(sink).named("csi-driver"), lines };
}

test("text: the record in klog's shape, one line for one write", () => {
  const { log, lines } = setUp("text");
  log.at(12).info("Version", { version: "v1" });
  log.warn("careful");
  log.error(new Error("one\ntwo"), "failed", { n: 1 });
  expect(lines).toEqual([
    'I0102 12:00:00.000000       1 csi-driver.ts:12] "Version" version="v1"\n',
    'W0102 12:00:00.000000       1 csi-driver.ts:0] "careful"\n',
    'E0102 12:00:00.000000       1 csi-driver.ts:0] "failed" err="one\\ntwo" n=1\n',
  ]);
});

test("json: the time leads, the rest follows in component-base's order", () => {
  const { log, lines } = setUp("json", { now: () => 1700000000000.125 });
  log.at(12).info("Version", { version: "v1" });
  log.error(new Error("one\ntwo"), "failed", { n: 1 });
  expect(lines).toEqual([
    '{"ts":1700000000000.125,"caller":"csi-driver.ts:12","msg":"Version","v":0,"version":"v1"}\n',
    '{"ts":1700000000000.125,"caller":"csi-driver.ts:0","msg":"failed","n":1,"err":"one\\ntwo"}\n',
  ]);
});

test("json: what does not fit JSON, what pino itself would act on, and what steers terminals", () => {
  const { log, lines } = setUp("json", { now: () => 0 });
  const cycle: { self?: object } = {};
  cycle.self = cycle;
  log.info("%s", { cycle, big: 10n, nan: Number.NaN, throwing: { toJSON: () => JSON.parse("") } });
  log.info("Msg", {
    method: "m",
    headers: {},
    socket: "s",
    level: 60,
    time: 1,
    err: null,
    esc: "\x1b\x9b\u2028",
  });
  const parsed = lines.map((line) => JSON.parse(line));
  expect(parsed[0]).toMatchObject({ msg: "%s", big: 10, nan: null, cycle: { self: "[Circular]" } });
  expect(parsed[1]).toMatchObject({ method: "m", headers: {}, socket: "s", level: 60, time: 1, err: null });
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
  expect(lines.map((line) => /"(.*)"/.exec(line)?.[1])).toEqual([
    "csi-driver 0",
    "csi-driver 1",
    "csi-driver 2",
    "csi-driver 4",
    "csi-driver warning",
    "other 0",
    "other 1",
    "other warning",
  ]);
});

test.each(["text", "json"] as const)("%s: split streams take information apart from the rest", (format) => {
  const infos: string[] = [];
  const { log, lines } = setUp(format, { infoStream: { write: (line) => infos.push(line) } });
  log.info("information");
  log.warn("warning");
  log.error(undefined, "error");
  expect(infos).toEqual([expect.stringContaining("information")]);
  expect(lines).toEqual([expect.stringContaining("warning"), expect.stringContaining("error")]);
});

describe("in a process of its own", () => {
  let folder: string;
  let script: string;

  beforeAll(() => {
    folder = fs.mkdtempSync(join(tmpdir(), "klog-sink-"));
    script = join(folder, "bundle.js");
    buildSync({
      stdin: { contents: PROGRAM, resolveDir: join(__dirname, "../../src/logging"), loader: "ts" },
      outfile: script,
      bundle: true,
      platform: "node",
      format: "cjs",
    });
  });

  afterAll(() => fs.rmSync(folder, { recursive: true }));

  const run = (format: string, env: NodeJS.ProcessEnv = {}) =>
    spawn(process.execPath, [script, format], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });

  test("every line is out before an exit on the next statement, in the zone of TZ", async () => {
    const child = run("text", { TZ: "Asia/Kolkata" });
    const [output, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    const lines = output.trimEnd().split("\n");
    expect(code).toBe(3);
    expect(lines).toHaveLength(1001);
    expect(lines[0]).toBe(
      `I1115 03:43:20.000000 ${String(child.pid).padStart(7)} main.ts:7] "Msg" n=0 pad="${"x".repeat(200)}"`,
    );
    expect(lines[1000]).toMatch(/^E1115 .* main\.ts:9\] "last" err="boom"$/);
  });

  test("json goes to the same descriptor", async () => {
    const child = run("json");
    const [output] = await Promise.all([text(child.stderr), once(child, "exit")]);
    const lines = output.trimEnd().split("\n");
    expect(lines).toHaveLength(1001);
    expect(JSON.parse(lines[1000] ?? "")).toEqual({
      ts: 1700000000000,
      caller: "main.ts:9",
      msg: "last",
      err: "boom",
    });
  });

  test("a reader that went away does not end the process", async () => {
    const child = run("text");
    child.stderr.destroy();
    expect(await once(child, "exit")).toEqual([3, null]);
  });
});

const PROGRAM = `
import { createFdStream } from "./fd-stream";
import { createJsonLine } from "./json-line";
import { createKlogSink } from "./klog-sink";
import { textLine } from "./klog-text";
import { createLogger } from "./logger";

const lineOf = process.argv[2] === "json" ? createJsonLine() : textLine;
const stream = createFdStream(2);
const options = { lineOf, verbosity: 0, vmodule: [], pid: process.pid, stream, now: () => 1700000000000 };
const log = createLogger(createKlogSink(options)).named("main");
for (let n = 0; n < 1000; n += 1) log.at(7).info("Msg", { n, pad: "x".repeat(200) });
log.at(9).error(new Error("boom"), "last");
process.exit(3);
`;
