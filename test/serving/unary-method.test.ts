import { loadProtos } from "../../src/grpc/protos";
import { openHost } from "./open-host";

const { identity, node } = loadProtos();

type Callback = (error: object | null, response?: object) => void;
const later = (callback: Callback) => setImmediate(callback, null, { name: "a.b" });
const sync = () => ({ name: "a.b" });

test.each<[string, (call: unknown, callback: Callback) => unknown]>([
  ["an answer", sync],
  ["a promise of it", async () => ({ name: "a.b" })],
  ["a callback", (_call, callback) => callback(null, { name: "a.b" })],
  [
    "a callback, whatever it returns",
    (_call, callback) => {
      callback(null, { name: "a.b" });
      return { name: "late" };
    },
  ],
  [
    "an answer, though it has a parameter for the callback",
    (call, callback) => (sync as (call: unknown, callback: Callback) => object)(call, callback),
  ],
  ["a promise of it, though it has a parameter for the callback", async (_call, _callback) => sync()],
  ["a callback, and return what makes it wait", (_call, callback) => later(callback)],
  ["a callback, and a promise of what makes it wait", async (_call, callback) => later(callback)],
  [
    "a callback, and return null",
    (_call, callback) => {
      later(callback);
      return null;
    },
  ],
  ["a callback, and return nothing", (_call, callback) => void later(callback)],
  ["a callback that it passes on", (...args) => void later(args[1])],
  ["a callback that it passes on, with a parameter before", (_call, ...rest) => void later(rest[0])],
  [
    "a callback that it finds in its arguments",
    function () {
      // biome-ignore lint/complexity/noArguments: what old middleware does
      later(arguments[1]);
    },
  ],
])("a method may give %s", async (_what, getPluginInfo) => {
  const { host, call } = openHost();
  host.addService(identity, { getPluginInfo });
  expect(await call("GetPluginInfo")).toEqual({ response: { name: "a.b" } });
});

test.each<[string, (call: { request: object }) => unknown]>([
  ["returns nothing", ({ request: { ...request } }) => void request],
  ["has no parameter and returns nothing", () => {}],
  ["returns null", (_call) => null],
  ["is async and returns nothing", async () => {}],
  ["is async, passes its arguments on and returns nothing", async (..._args) => {}],
])("the answer of a method that %s is empty", async (_what, probe) => {
  const { host, call } = openHost();
  host.addService(identity, { probe });
  expect(await call("Probe")).toEqual({ response: {} });
});

test.each<[string, unknown, { readonly code: number; readonly details: string }]>([
  ["details", { code: 5, details: "x is gone" }, { code: 5, details: "x is gone" }],
  ["a message", { code: 5, message: "x is gone" }, { code: 5, details: "x is gone" }],
  [
    "both, as a client of grpc-js gets it",
    Object.assign(new Error("5 NOT_FOUND: x is gone"), { code: 5, details: "x is gone" }),
    { code: 5, details: "x is gone" },
  ],
  ["neither", { code: 5 }, { code: 5, details: "Unknown Error" }],
  ["no code", { details: "x is gone" }, { code: 13, details: "x is gone" }],
  ["a text alone", "x is gone", { code: 13, details: "x is gone" }],
  ["no text at all", undefined, { code: 13, details: "undefined" }],
])(
  "an error with %s is answered alike, thrown, rejected with or called back",
  async (_what, error, answer) => {
    const { host, call } = openHost();
    host.addService(identity, {
      getPluginInfo: () => {
        throw error;
      },
      getPluginCapabilities: async () => Promise.reject(error),
      probe: (_call: unknown, callback: (given: unknown) => void) => callback(error ?? "undefined"),
    });
    for (const method of ["GetPluginInfo", "GetPluginCapabilities", "Probe"])
      expect(await call(method)).toEqual(answer);
  },
);

test("a mistake in a method is in the log with its stack, a gRPC status that it meant is not", async () => {
  const { host, log, call } = openHost();
  const mistake = new TypeError("no such thing");
  host.addService(node, {
    nodeGetInfo: () => {
      throw mistake;
    },
  });
  host.addService(identity, {
    probe: async () => {
      throw Object.assign(new Error("not yet"), { code: 14 });
    },
  });
  expect(await call("Probe")).toMatchObject({ code: 14 });
  expect(await call("NodeGetInfo")).toMatchObject({ code: 13, details: "no such thing" });
  expect(log.all("A method of the driver failed")).toMatchObject([
    { error: mistake, fields: { method: node.NodeGetInfo.path } },
  ]);
});

test.each<[string, unknown]>([
  ["a system call", Object.assign(new Error("busy"), { code: "EBUSY" })],
  ["an exit code", Object.assign(new Error("mount failed"), { code: 32 })],
])("a failure with the code of %s is no gRPC status, but a mistake", async (_what, error) => {
  const { host, log, call } = openHost();
  host.addService(identity, { probe: () => Promise.reject(error) });
  expect(await call("Probe")).toMatchObject({ code: 13 });
  expect(log.all("A method of the driver failed")).toMatchObject([{ error }]);
});

test.each<[string, (callback: Callback, error: Error) => unknown]>([
  [
    "throws",
    (callback, error) => {
      callback(null, {});
      throw error;
    },
  ],
  [
    "rejects",
    async (callback, error) => {
      callback(null, {});
      throw error;
    },
  ],
  [
    "calls back again",
    (callback, error) => {
      callback(null, {});
      callback(error);
    },
  ],
])("what a method %s after its answer is in the log", async (_how, act) => {
  const { host, log, call } = openHost();
  const error = Object.assign(new Error("too late"), { code: 5 });
  host.addService(identity, { probe: (_call: unknown, callback: Callback) => act(callback, error) });
  expect(await call("Probe")).toEqual({ response: {} });
  await log.when("A method of the driver failed after its answer");
  expect(log.records).toMatchObject([{ error, fields: { method: identity.Probe.path } }]);
});
