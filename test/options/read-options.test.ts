import { getEventListeners } from "node:events";
import { resolve } from "node:path";
import { refuse } from "../../src/base/errors";
import { LONGEST_WAIT_MS } from "../../src/base/pause";
import { refuseFrame } from "../../src/grpc/guard/frames";
import { resolveNodeReadinessOptions } from "../../src/node-readiness/options";
import {
  callbackOf,
  directoryPath,
  flag,
  hostSocketPath,
  listOf,
  milliseconds,
  oneOf,
  socketPathKind,
  textKind,
  valuesByKey,
  wholeNumber,
} from "../../src/options/option-kinds";
import {
  checkFor,
  optional,
  optionsOf,
  readOptions,
  required,
  variant,
} from "../../src/options/read-options";
import { START_OPTIONS } from "../../src/options/start-options";
import { resolveOptions, resolveRegistrationOptions } from "../../src/registrar/model/library-options";
import { resolveNodeOptions } from "../../src/registrar/node-wide/options";
import { resolveServingOptions } from "../../src/serving/options";
import { resolveCsiDriverOptions } from "../../src/simulator/driver/options";
import { resolveKubeletOptions } from "../../src/simulator/kubelet/options";

type Fault =
  | { readonly kind: "slow"; readonly delayMs: number; readonly times?: number }
  | { readonly kind: "hang" };

const table = {
  name: required(textKind),
  folder: optional(directoryPath),
  socket: optional(socketPathKind),
  endpoint: optional(hostSocketPath),
  waitMs: optional(milliseconds(), 1_000),
  limitMs: optional(milliseconds({ orZero: true }), 0),
  count: optional(wholeNumber(1, 8)),
  policy: optional(oneOf(["exit", "retry"])),
  isOn: optional(flag, false),
  labels: optional(valuesByKey(textKind)),
  done: optional(callbackOf()),
  pace: optional(
    optionsOf<{ readonly waitMs: number; readonly isOn?: boolean }>({
      waitMs: required(milliseconds()),
      isOn: optional(flag),
    }),
  ),
  faults: optional(
    listOf(
      variant<Fault>({
        slow: { delayMs: required(milliseconds()), times: optional(wholeNumber(0, 9)) },
        hang: {},
      }),
    ),
  ),
  ...START_OPTIONS,
};
const read = (given: unknown) => readOptions("startX", given, table);

test("options get defaults, absolute paths, and no key that was not given", () => {
  expect(read({ name: "x", folder: "a/../b", socket: "unix:csi.sock", count: undefined })).toEqual({
    ...{
      name: "x",
      folder: `${process.cwd()}/b`,
      socket: `${process.cwd()}/csi.sock`,
      waitMs: 1_000,
      limitMs: 0,
      isOn: false,
    },
    logger: expect.anything(),
  });
  expect(Object.keys(read({ name: "x" }))).toEqual(["name", "waitMs", "limitMs", "isOn", "logger"]);
});

test.each<"socket" | "endpoint">(["socket", "endpoint"])(
  "an address is a path, or one behind unix: or unix://: %s",
  (name) => {
    for (const address of ["/x.sock", "unix:/x.sock", "unix:///x.sock"])
      expect(read({ name: "x", [name]: address })[name]).toBe("/x.sock");
  },
);

test("a colon in a path's name is no scheme, and no port", () => {
  const path = "a:1/tcp://x:2";
  expect(read({ name: "x", folder: path, socket: path })).toMatchObject({
    folder: resolve(path),
    socket: resolve(path),
  });
});

test("usable values are kept unchanged", () => {
  const { signal } = new AbortController();
  const given = {
    ...{ name: "", socket: "/x.sock", endpoint: "/host/x.sock", waitMs: LONGEST_WAIT_MS, limitMs: 0 },
    ...{ count: 8, policy: "retry", isOn: true, labels: { a: "b" }, pace: { waitMs: 1 }, signal },
    faults: [{ kind: "slow", delayMs: 0.5 }, { kind: "hang" }],
  };
  expect(read(given)).toEqual({ ...given, signal: expect.any(AbortSignal), logger: expect.anything() });
});

/** It is called later, so it stays as it is. */
const SOURCE = Object.create({ all: [], subscribe: () => () => {} });
const TOKEN = { kind: "value", value: "secret" };

test.each<[of: string, resolve: (given: never) => object, given: object]>([
  ["startRegistrar", resolveOptions, { csiAddress: "/x", endpoint: "/x" }],
  [
    "startRegistration",
    resolveRegistrationOptions,
    { name: "x", endpoint: "/x", supportedVersions: ["1.0.0"] },
  ],
  [
    "startNodeRegistrar",
    resolveNodeOptions,
    { csiAddresses: ["/a/*"], endpoints: ["/b/*"], names: { allow: ["x", "y"], deny: ["z"] } },
  ],
  [
    "serveCsiDriver",
    resolveServingOptions,
    {
      csiAddress: "/x",
      addServices: () => {},
      serverOptions: { interceptors: [() => {}], "grpc.max_concurrent_streams": 1 },
    },
  ],
  [
    "startKubelet",
    resolveKubeletOptions,
    {
      ...{ pluginRegistrationPath: "/x", nodeLabels: { a: "b" }, timings: { dialMs: 1 } },
      faults: [{ kind: "refuse", error: "a" }],
    },
  ],
  [
    "startCsiDriver",
    resolveCsiDriverOptions,
    {
      ...{ csiAddress: "/x", name: "x", topology: { a: "b" } },
      faults: [{ kind: "hang", method: "Probe" }],
    },
  ],
  [
    "startNodeReadiness",
    resolveNodeReadinessOptions,
    {
      ...{ registrations: SOURCE, nodeName: "n", startupTaints: ["a/b"] },
      access: { server: "https://h:1", token: TOKEN },
    },
  ],
])("changes to the options after the call of %s have no effect", (_of, resolve, given) => {
  const resolved = resolve(given as never);
  const before = JSON.stringify(resolved);
  spoil(given);
  expect(JSON.stringify(resolved)).toBe(before);
});

/** Empties each list and changes each value of an object, at any depth. */
function spoil(given: object): void {
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === "object") spoil(value);
    Object.assign(given, { [key]: "changed" });
  }
  if (Array.isArray(given)) given.length = 0;
}

test("a signal gets no listener, and an imitation of one is accepted", () => {
  const stop = new AbortController();
  const { signal } = read({ name: "x", signal: stop.signal });
  signal?.addEventListener("abort", () => {});
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  stop.abort("the end");
  expect(signal).toMatchObject({ aborted: true, reason: "the end" });
  const imitation = { aborted: false, addEventListener: () => {} };
  expect(read({ name: "x", signal: imitation }).signal).toBe(imitation);
});

const SIGNAL = new AbortController();
const BESIDE_A_NAME: readonly [given: object, message: string | RegExp][] = [
  [{ pace: [1] }, "startX: pace is an array; it takes an object with waitMs, isOn"],
  [{ pace: { waitMs: 0 } }, /^startX: pace: waitMs is 0; it takes milliseconds/],
  [{ kubeletRegistrationPath: "/x" }, /no option "kubeletRegistrationPath"; did you mean endpoint\?$/],
  [{ zzzzzz: 1 }, /^startX: there is no option "zzzzzz"; there are name, folder, .*, signal, logger$/],
  [{ folder: "" }, 'startX: folder is ""; it takes the path of a directory, without unix://'],
  [{ folder: 1 }, /folder is 1; it takes the path of a directory, without unix:\/\/$/],
  [{ folder: "unix:///r" }, /^startX: folder is "unix:\/\/\/r"; it takes the path of a directory/],
  [{ folder: "file:///r" }, /^startX: folder is "file:\/\/\/r"; it takes/],
  [
    { socket: "s".repeat(107) },
    /socket has \d{3} bytes; it takes the path of a unix socket, 107 bytes at most$/,
  ],
  [{ socket: "" }, /socket is ""; it takes the path of a unix socket, 107 bytes at most$/],
  [{ socket: "host:80" }, /socket is "host:80"; it takes the path of a unix socket/],
  [{ socket: "tcp://127.0.0.1:1" }, /socket is "tcp:\/\/127.0.0.1:1"; it takes the path of a unix/],
  [{ socket: "unix:@abstract" }, /socket is "unix:@abstract"; it takes the path of a unix socket/],
  [{ endpoint: "x.sock" }, /endpoint is "x.sock"; it takes .*, absolute, as kubelet sees it on the host/],
  [{ endpoint: "unix:x.sock" }, /endpoint is "unix:x.sock"; it takes the path of a unix socket/],
  [{ endpoint: "tcp:///x.sock" }, /endpoint is "tcp:\/\/\/x.sock"; it takes the path of a unix socket/],
  [{ waitMs: 0 }, /waitMs is 0; it takes milliseconds, more than 0 and at most 2147483647 \(24 days\)$/],
  [{ waitMs: "5" }, /waitMs is "5"; it takes milliseconds/],
  [{ waitMs: Number.NaN }, /waitMs is NaN; it takes milliseconds/],
  [{ limitMs: -1 }, /limitMs is -1; it takes milliseconds, 0 or more/],
  [{ limitMs: Number.POSITIVE_INFINITY }, /limitMs is Infinity; it takes milliseconds/],
  [{ count: 1.5 }, "startX: count is 1.5; it takes a whole number, 1 to 8"],
  [{ count: 1n }, /count is 1n; it takes a whole number, 1 to 8$/],
  [{ count: 0 }, /count is 0; it takes a whole number, 1 to 8$/],
  [{ count: 9 }, /count is 9; it takes a whole number, 1 to 8$/],
  [{ policy: "ignore" }, 'startX: policy is "ignore"; it takes one of "exit", "retry"'],
  [{ policy: 1 }, 'startX: policy is 1; it takes one of "exit", "retry"'],
  [{ policy: "p".repeat(60) }, /policy is "p{60}"; it takes/],
  [{ policy: "p".repeat(61) }, /policy is "p{60}…"; it takes/],
  [{ done: true }, "startX: done is true; it takes a function"],
  [{ isOn: "yes" }, 'startX: isOn is "yes"; it takes true or false'],
  [{ labels: { a: "", "b/c": 1 } }, 'startX: labels["b/c"] is 1; it takes a text'],
  [{ labels: new Map() }, "startX: labels is a Map; it takes an object, each value a text"],
  [{ labels: new Uint8Array() }, /labels is a Uint8Array; it takes an object/],
  [{ signal: { aborted: false } }, "startX: signal is an object; it takes an AbortSignal"],
  [{ signal: { addEventListener: () => {} } }, "startX: signal is an object; it takes an AbortSignal"],
  [{ signal: SIGNAL }, "startX: signal is an AbortController; it takes an AbortSignal"],
  [{ logger: () => {} }, /logger is a function; it takes console, a pino logger, or one of create/],
  [{ faults: {} }, /faults is an object; it takes a list, each of an object whose .*"slow", "hang"/],
  [{ faults: Array(1) }, /faults\[0\] is missing; it takes an object whose kind/],
  [{ faults: [{ kind: "hang" }, "slow"] }, /faults\[1\] is "slow"; it takes an object whose kind/],
  [{ faults: [{ kind: "slwo" }] }, /faults\[0\]\.kind is "slwo"; .*; did you mean "slow"\?$/],
  [{ faults: [{ kind: "slow", delay: 1 }] }, /faults\[0\]: .*no option "delay"; did you mean delayMs\?$/],
  [{ faults: [{ kind: "hang", delay: 1 }] }, /faults\[0\]: there is no option "delay"; it takes none$/],
  [{ faults: [{ kind: "slow" }] }, /faults\[0\]: delayMs is missing; it takes milliseconds/],
];

test.each<readonly [given: unknown, message: string | RegExp]>([
  [undefined, "startX takes an object of options, not undefined"],
  [[], "startX takes an object of options, not an array"],
  [new Map([["name", "x"]]), "startX takes an object of options, not a Map"],
  [Promise.resolve({ name: "x" }), "startX takes an object of options, not a Promise"],
  [{}, "startX: name is missing; it takes a text"],
  [{ name: null }, "startX: name is null; it takes a text"],
  [{ nmae: "x" }, 'startX: there is no option "nmae"; did you mean name?'],
  ...BESIDE_A_NAME.map(([given, message]) => [{ name: "x", ...given }, message] as const),
])("the error for %j has what was given and what is accepted", (given, message) => {
  const expected = typeof message === "string" ? message : expect.stringMatching(message);
  expect(() => read(given)).toThrow(expect.objectContaining({ code: "INVALID_OPTION", message: expected }));
});

test("an error about an option begins with the name of the called function", () => {
  const invalid = { code: "INVALID_OPTION", message: "startX: a is 1" };
  expect(checkFor("startX", () => 7)).toBe(7);
  expect(() => checkFor("startX", () => refuse("a is 1"))).toThrow(expect.objectContaining(invalid));
  expect(() => checkFor("startX", () => refuseFrame("a"))).toThrow(/^a$/);
});
