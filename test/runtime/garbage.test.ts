import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import v8 from "node:v8";
import vm from "node:vm";
import { createEventSource } from "../../src/base/event-source";
import type { Registrations } from "../../src/registrar/registration/registrations";
import { collectWhenQuiet, keepHeapSmall, SMALL_HEAP } from "../../src/runtime/garbage";
import { createTempFolder } from "../support/temp-folder";

beforeEach(() => jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate"] }));
afterEach(() => jest.useRealTimers());

const changeTo = (to: string) => ({ kind: "state-changed" as const, change: { to } });

test("garbage is collected 10 s after the last registration, and again after the next one", () => {
  const events = createEventSource<ReturnType<typeof changeTo>>({ "state-changed": true }, () => {});
  const collect = jest.fn();
  collectWhenQuiet({ subscribe: events.subscribe } as unknown as Registrations, collect);
  const passed = (seconds: number) => jest.advanceTimersByTime(seconds * 1_000);

  passed(9);
  events.emit(changeTo("registered"));
  passed(9);
  expect(collect).not.toHaveBeenCalled();
  passed(1);
  expect(collect).toHaveBeenCalledTimes(1);

  events.emit(changeTo("refused"));
  passed(60);
  expect(collect).toHaveBeenCalledTimes(1);
  events.emit(changeTo("registered"));
  passed(60);
  expect(collect).toHaveBeenCalledTimes(2);
});

test("a collection works in any Node", () => {
  const subscribe = () => () => {};
  collectWhenQuiet({ subscribe } as unknown as Registrations);
  expect(() => jest.advanceTimersByTime(10_000)).not.toThrow();
});

test.each<[version: string, given: unknown[]]>([
  ["v20.20.2", []],
  ["v22.0.0", [{ type: "major", execution: "sync", flavor: "last-resort" }]],
])("what Node %s is told to collect", async (version, given) => {
  const [own, gc, set] = [process.version, jest.fn(), jest.spyOn(v8, "setFlagsFromString")];
  Object.defineProperty(process, "version", { value: version });
  jest.spyOn(vm, "runInNewContext").mockReturnValue(gc);
  collectWhenQuiet({ subscribe: () => () => {} } as unknown as Registrations);
  jest.advanceTimersByTime(10_000);
  await new Promise(setImmediate);
  Object.defineProperty(process, "version", { value: own });
  expect(gc.mock.calls).toEqual([given]);
  expect(set.mock.calls).toEqual([["--expose-gc"], ["--no-expose-gc"]]);
});

test("garbage is collected a second after 32 clients have left, of any of our listeners", async () => {
  const collect = jest.fn();
  collectWhenQuiet({ subscribe: () => () => {} } as unknown as Registrations, collect);
  await using folder = await createTempFolder();
  const path = folder.at("s");
  await using server = createServer((socket) => socket.destroy()).listen(path);
  await once(server, "listening");
  const visits = async (times: number) => {
    for (let count = 0; count < times; count++) await once(connect(path).resume(), "close");
    // Our side of the last one has gone too.
    await new Promise<void>((resolve) => server.getConnections(() => setImmediate(resolve)));
  };

  jest.advanceTimersByTime(60_000);
  await visits(31);
  jest.advanceTimersByTime(60_000);
  expect(collect).toHaveBeenCalledTimes(1);
  await visits(1);
  jest.advanceTimersByTime(999);
  expect(collect).toHaveBeenCalledTimes(1);
  jest.advanceTimersByTime(1);
  expect(collect).toHaveBeenCalledTimes(2);
  await visits(32);
  jest.advanceTimersByTime(1_000);
  expect(collect).toHaveBeenCalledTimes(3);
});

test.each(SMALL_HEAP)("this Node knows V8's flag %s", (flag) => {
  const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  expect(known).toContain(`\n  --${flag.replace(/^--(?:no-)?|=.*$/g, "")} (`);
});

test("V8 gets each of them", async () => {
  const set = jest.spyOn(v8, "setFlagsFromString").mockImplementation(() => {});
  await keepHeapSmall();
  expect(set.mock.calls.flat()).toEqual(SMALL_HEAP);
  set.mockRestore();
});
