import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { buildSync } from "esbuild";
import { createJsonLine } from "../../src/logging/json-line";
import { createKlogSink, type KlogSinkOptions } from "../../src/logging/klog-sink";
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
import { createFdStream } from "./fd-stream";
import { createKlogSink } from "./klog-sink";
import { createTextLine } from "./klog-text";
import { createLogger } from "./logger";

const stream = createFdStream(2);
const options = { lineOf: createTextLine(process.pid), verbosity: 0, vmodule: [], stream, now: () => 1700000000000 };
const log = createLogger(createKlogSink(options)).named("main");
for (let n = 0; n < 1000; n += 1) log.at(7).info("Msg", { n, pad: "x".repeat(200) });
log.at(9).error(new Error("boom"), "last");
process.exit(3);
`;
