import * as promClient from "prom-client";
import { Registry } from "prom-client";
import * as library from "../src/index";
import * as nodeReadiness from "../src/node-readiness";
import * as testKit from "../src/testing";
import { allTests } from "./support/each-test";
import { createTestNode } from "./support/registrar-node";

// Every exported function, and every function of what one returns, refuses what it cannot take: at the call, in one class, with
// its own name and a near word. A new export fails the first test until it has a row.

const node = allTests(createTestNode);

type Takes = (value: unknown) => boolean;
const text: Takes = (value) => typeof value === "string";
const socket: Takes = (value) => typeof value === "string" && value !== "" && !/:\d+$/.test(value);
const callback: Takes = (value) => typeof value === "function";
const flag: Takes = (value) => typeof value === "boolean";
const list: Takes = (value) => Array.isArray(value);
const object: Takes = (value) => Object.prototype.toString.call(value) === "[object Object]";
const ms: Takes = (value) => typeof value === "number" && value > 0;
const msOrZero: Takes = (value) => typeof value === "number" && value >= 0;
const nothing: Takes = () => false;

/** Of most things one, of texts and numbers some that are easily mistaken. */
const VALUES: readonly unknown[] = [
  ...[
    null,
    true,
    0,
    -1,
    Number.NaN,
    "",
    "localhost:9000",
    1n,
    Symbol("x"),
    [],
    [null],
    {},
    new Date(0),
    new Map(),
  ],
  ...[() => {}, Promise.resolve({}), "constructor"],
];

type Options = Readonly<Record<string, Takes>>;
const START: Options = { signal: nothing, logger: nothing };
const COMMON: Options = {
  ...START,
  pluginRegistrationPath: (value) => text(value) && value !== "",
  timeoutMs: ms,
  onRegistrationFailure: nothing,
  onEvent: callback,
};
const SIMULATOR: Options = {
  ...START,
  faults: (value) => list(value) && (value as []).length === 0,
  waitTimeoutMs: ms,
};

interface Row {
  readonly name: string;
  readonly call: (...given: unknown[]) => unknown;
  /** Arguments that it takes, and for each what else it takes. */
  readonly right: readonly unknown[];
  readonly takes: readonly (Takes | Options)[];
}
const row = (call: unknown, name: string, right: readonly unknown[], ...takes: Row["takes"]): Row => ({
  ...{ name, right, takes, call: call as Row["call"] },
});

const paths = { csiAddress: "/none/csi.sock", endpoint: "/none/csi.sock" };
const sink = { enabled: () => false, write: () => {} };
const access = { server: "https://k", authority: undefined };
const registration = { status: () => ({}), subscribe: () => () => {}, scope: "one-driver", all: [] };

/** What a call of the function takes. */
const rows: readonly Row[] = [
  row(
    library.addMetrics,
    "addMetrics",
    [registration, promClient],
    nothing,
    nothing,
    (given) => given === undefined,
  ),
  row(library.createLogger, "createLogger", [sink], nothing),
  row(library.unaryHandler, "unaryHandler", [() => {}], callback),
  row(library.serveCsiDriver, "serveCsiDriver", [{ ...paths, addServices: () => {} }], {
    ...COMMON,
    csiAddress: socket,
    endpoint: nothing,
    addServices: callback,
    serverOptions: object,
    graceMs: msOrZero,
  }),
  row(library.startNodeRegistrar, "startNodeRegistrar", [{ csiAddresses: ["/a/*"], endpoints: ["/a/*"] }], {
    ...COMMON,
    onRegistrationFailure: undefined as never,
    csiAddresses: nothing,
    endpoints: nothing,
    driverGoneAfterMs: msOrZero,
    driverTimeoutMs: undefined as never,
    reregisterOnDriverRestart: flag,
    names: object,
  }),
  row(library.startRegistrar, "startRegistrar", [paths], {
    ...COMMON,
    csiAddress: socket,
    endpoint: nothing,
    driverTimeoutMs: msOrZero,
    reregisterOnDriverRestart: flag,
  }),
  row(library.startRegistration, "startRegistration", [{ name: "x.csi", endpoint: "/none/csi.sock" }], {
    ...COMMON,
    name: text,
    endpoint: nothing,
    type: nothing,
    supportedVersions: nothing,
    instance: nothing,
  }),
  row(testKit.startCsiDriver, "startCsiDriver", [{ csiAddress: "/none/csi.sock", name: "x" }], {
    ...SIMULATOR,
    csiAddress: socket,
    name: text,
    vendorVersion: text,
    nodeId: text,
    topology: object,
    maxVolumes: Number.isInteger,
    listenAfterMs: msOrZero,
  }),
  row(testKit.startKubelet, "startKubelet", [{ pluginRegistrationPath: "/none" }], {
    ...SIMULATOR,
    pluginRegistrationPath: (value) => text(value) && value !== "",
    version: nothing,
    nodeName: text,
    nodeLabels: object,
    reconcilePeriodMs: ms,
    timings: object,
  }),
  row(
    nodeReadiness.inClusterAccess,
    "inClusterAccess",
    [{ KUBERNETES_SERVICE_HOST: "h", KUBERNETES_SERVICE_PORT: "1" }, "/d"],
    (value) => Object(value) === value,
    text,
  ),
  row(
    nodeReadiness.accessFromKubeconfig,
    "",
    [{}, "/d"],
    (value) => Object(value) === value && !Array.isArray(value),
    text,
  ),
  row(
    nodeReadiness.startNodeReadiness,
    "startNodeReadiness",
    [{ registrations: registration, nodeName: "n", access }],
    {
      ...START,
      registrations: nothing,
      nodeName: text,
      access: nothing,
      startupTaints: (value) => list(value) && (value as []).length === 0,
      condition: text,
      conditionDelayMs: msOrZero,
    },
  ),
];

const functionsOf = (module: object) =>
  Object.entries(module).flatMap(([name, value]) => (typeof value === "function" ? [name] : []));

test("every exported function has a row", () => {
  const exported = [library, testKit, nodeReadiness].flatMap(functionsOf);
  const named = rows.map(({ call }) => call.name);
  expect(exported.sort()).toEqual([...named, "RegistrarError"].sort());
});

/** What a call throws, at once or by its promise. */
async function refusalOf(
  call: () => unknown,
): Promise<{ readonly code?: string; readonly message?: string }> {
  try {
    const returned = await call();
    await (Object(returned) as Partial<AsyncDisposable>)[Symbol.asyncDispose]?.();
    return { message: `took it, and returned ${String(Object.prototype.toString.call(returned))}` };
  } catch (error) {
    return error instanceof library.RegistrarError
      ? error
      : { message: `not a RegistrarError: ${String(error)}` };
  }
}

/** One letter less, as fingers do. */
const mistyped = (word: string) => word.slice(0, 3) + word.slice(4);

async function check({ name, call, right, takes }: Row): Promise<readonly string[]> {
  const found: string[] = [];
  const expectRefusal = async (what: string, needed: string, given: readonly unknown[]) => {
    const { code, message = "" } = await refusalOf(() => call(...given));
    if (code !== "INVALID_OPTION" || !message.startsWith(name) || !message.includes(needed))
      found.push(`${name} with ${what}: ${code} ${message}`);
  };
  for (const [at, taken] of takes.entries()) {
    const withArgument = (value: unknown) => [...right.slice(0, at), value, ...right.slice(at + 1)];
    const isTaken = typeof taken === "function" ? taken : nothing;
    for (const value of VALUES.filter(
      (one) => !isTaken(one) && !(object(one) && isTaken === nothing && typeof taken === "object"),
    ))
      await expectRefusal(`argument ${at} ${describe(value)}`, "", withArgument(value));
    if (typeof taken === "function") continue;
    for (const [option, takesOption] of Object.entries(taken)) {
      if (takesOption === undefined) continue;
      for (const value of VALUES.filter((one) => !takesOption(one)))
        await expectRefusal(
          `${option} ${describe(value)}`,
          option,
          withArgument({ ...Object(right[at]), [option]: value }),
        );
      const typo = mistyped(option);
      await expectRefusal(typo, `did you mean ${option}?`, withArgument({ ...Object(right[at]), [typo]: 1 }));
    }
  }
  return found;
}

const describe = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));

test.each(rows.map((one) => [one.name, one] as const))("%s", async (_name, one) => {
  expect(await check(one)).toEqual([]);
});

test("the functions of returned objects refuse wrong arguments", async () => {
  const kubelet = await node.kubelet();
  const driver = await node.driver();
  const started = node.keep(
    await library.startRegistration({
      name: "y.csi",
      endpoint: "/y.sock",
      pluginRegistrationPath: node.pluginDir,
    }),
  );
  const waits: Options = { timeoutMs: ms, signal: nothing };
  const word: Takes = text;
  const rowsOfHandles = [
    row(kubelet.registered, "registered", ["y.csi", {}], word, waits),
    row(kubelet.deregistered, "deregistered", ["z.csi", {}], word, waits),
    row(kubelet.refused, "refused", ["y.csi", {}], word, waits),
    row(kubelet.restart, "restart", [{}], { whileDown: callback }),
    row(kubelet.setFaults, "setFaults", [[]], (value) => list(value) && (value as []).length === 0),
    row(driver.setFaults, "setFaults", [[]], (value) => list(value) && (value as []).length === 0),
    row(driver.setAnswers, "setAnswers", [{}], { nodeId: text, topology: object }),
    ...[kubelet.events, driver.events].flatMap((events) => [
      row(events.when, "when", ["fault-applied", {}], nothing, { ...waits, where: callback, from: nothing }),
      row(events.history, "history", ["fault-applied"], nothing),
    ]),
    ...[kubelet.events, started].flatMap((events) => [
      row(events.subscribe, "subscribe", [() => {}, {}], callback, { signal: nothing }),
      row(events.iterate, "iterate", [{}], { signal: nothing }),
    ]),
  ];
  const found: string[] = [];
  for (const one of rowsOfHandles) found.push(...(await check(one)));
  expect(found).toEqual([]);
});

test("subscribe and iterate say what they take in place of a list of kinds", async () => {
  const { events } = await node.kubelet();
  expect(() => events.subscribe(["registered"] as never, () => {})).toThrow("iterate takes several kinds");
  expect(() => events.iterate(["registered"] as never)).toThrow(
    'iterate takes kinds of events one by one, as in iterate("registered"), not a list',
  );
});

test("a mistyped kind of events gets the nearest one named", async () => {
  const { events } = await node.kubelet();
  const calls: readonly (() => unknown)[] = [
    () => events.subscribe("registred" as never, () => {}),
    () => events.iterate("registered", "registred" as never),
    () => events.history("registred" as never),
    () => events.when("registred" as never),
  ];
  for (const call of calls) {
    const message = expect.stringContaining(
      'there is no event of kind "registred"; did you mean "registered"?',
    );
    expect(await refusalOf(call)).toMatchObject({ code: "INVALID_OPTION", message });
  }
});

test("addMetrics refuses what has a status, and no events", () =>
  expect(() => library.addMetrics({ status: () => ({}) } as never, promClient)).toThrow(
    "addMetrics is given an object; it takes a registration, or a node's",
  ));

test("addMetrics reports prom-client's error of a registry that has the metrics already", () => {
  const registry = new Registry();
  const add = () => library.addMetrics(registration as never, promClient, registry);
  add();
  const message = expect.stringContaining("already been registered");
  expect(add).toThrow(expect.objectContaining({ code: "INVALID_OPTION", message }));
});
