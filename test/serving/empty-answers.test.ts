import { statSync } from "node:fs";
import { status } from "@grpc/grpc-js";
import { callUnary, createUnixClient } from "../../src/grpc/client/unary";
import { unaryHandler } from "../../src/grpc/handlers";
import { protos } from "../../src/grpc/protos";
import { serveCsiDriver } from "../../src/serving/serve-csi-driver";
import { eachTest } from "../support/each-test";
import { recordLog } from "../support/recorded-log";
import { createTestNode, DRIVER } from "../support/registrar-node";

const node = eachTest(createTestNode);
type Answer = (...given: unknown[]) => void;

/** Ways to answer nothing, by a mistake or not. */
const NOTHING: readonly (readonly [string, unknown])[] = [
  ["unaryHandler: undefined", unaryHandler(() => undefined)],
  ["unaryHandler: null", unaryHandler(() => null)],
  ["unaryHandler: a promise", unaryHandler(async () => {})],
  ["a callback: no argument", (_call: unknown, answer: Answer) => answer()],
  ["a callback: null", (_call: unknown, answer: Answer) => answer(null)],
  ["a callback: null, null", (_call: unknown, answer: Answer) => answer(null, null)],
  ["a plain one", () => {}],
];
const EMPTY: readonly (readonly [string, unknown])[] = [
  ["unaryHandler: {}", unaryHandler(() => ({}))],
  ["a callback: {}", (_call: unknown, answer: Answer) => answer(null, {})],
];

test.each([
  ...NOTHING.map(([what, handler]) => [what, handler, 1] as const),
  ...EMPTY.map(([what, handler]) => [what, handler, 0] as const),
])(
  "no answer is warned of, once, if the message has fields; {} is not: by %s",
  async (_what, handler, times) => {
    const log = recordLog(0);
    const full = protos.node.NodeGetInfo;
    const empty = protos.registration.NotifyRegistrationStatus;
    await using _driver = await serveCsiDriver({
      ...{ csiAddress: node.csiAddress, pluginRegistrationPath: node.pluginDir, logger: log.logger },
      addServices: (server) => {
        server.addService(protos.identity, { GetPluginInfo: () => ({ name: DRIVER }) });
        server.addService({ full, empty }, { full: handler, empty: handler } as never);
      },
    });
    const client = createUnixClient(node.csiAddress);
    for (const method of [full, empty, full])
      await callUnary(client, method as typeof full, {}, { timeoutMs: 60_000 });
    client.close();
    const lines = log.records.filter(({ severity }) => severity !== "info");
    expect(lines.map(({ message, fields }) => [message, fields.method])).toEqual(
      Array(times).fill([expect.stringContaining("A handler answered nothing"), full.path]),
    );
  },
);

const IGNORED = "A handler answered a value, and its message has no fields: it is sent empty";
const bug = new Error("no disk");
const EXTRA: readonly (readonly [string, unknown, answered: string | undefined])[] = [
  ["a path, as fs.mkdir does", "/mount", '"/mount"'],
  ["a boolean", true, "true"],
  ["what fs.stat found", statSync("/"), "an object"],
  ["bytes, as fs.readFile does", Buffer.of(1), "a Uint8Array"],
  ["a promise", Promise.resolve(), undefined],
  ["an error", bug, undefined],
];
test.each(
  EXTRA.flatMap(([what, value, answered]) => [
    [`a callback: ${what}`, (_call: unknown, answer: Answer) => answer(null, value), answered] as const,
    ...(answered === undefined
      ? []
      : [[`unaryHandler: ${what}`, unaryHandler(() => value), answered] as const]),
  ]),
)(
  "a message without fields is sent empty, with a warning, if it is answered with %s",
  async (_what, handler, answered) => {
    const log = recordLog(0);
    const empty = protos.registration.NotifyRegistrationStatus;
    await using _driver = await serveCsiDriver({
      ...{ csiAddress: node.csiAddress, pluginRegistrationPath: node.pluginDir, logger: log.logger },
      addServices: (server) => {
        server.addService(protos.identity, { GetPluginInfo: () => ({ name: DRIVER }) });
        server.addService({ empty }, { empty: handler } as never);
      },
    });
    const client = createUnixClient(node.csiAddress);
    const called = callUnary(client, empty, {} as never, { timeoutMs: 60_000 });
    if (answered === undefined) await expect(called).rejects.toMatchObject({ code: status.INTERNAL });
    else expect(await called).toEqual({});
    client.close();
    const fields = { method: empty.path, answered };
    expect(log.all(IGNORED)).toMatchObject(answered === undefined ? [] : [{ fields }]);
  },
);

test("without a logger, a handler that never answers is a warning of the process", async () => {
  const warned = jest.spyOn(process, "emitWarning").mockReturnValue();
  const method = protos.node.NodeGetInfo;
  const driver = await serveCsiDriver({
    ...{ csiAddress: node.csiAddress, pluginRegistrationPath: node.pluginDir, graceMs: 1 },
    addServices: (server) => {
      server.addService(protos.identity, { GetPluginInfo: () => ({ name: DRIVER }) });
      server.addService(protos.node, { NodeGetInfo: unaryHandler(() => new Promise(() => {})) } as never);
    },
  });
  const client = createUnixClient(node.csiAddress);
  await new Promise((resolve) => client.waitForReady(Number.POSITIVE_INFINITY, resolve));
  await expect(callUnary(client, method, {}, { timeoutMs: 500 })).rejects.toThrow("DEADLINE_EXCEEDED");
  client.close();
  await driver.close();
  const texts = warned.mock.calls.map(([text]) => String(text));
  expect(texts).toEqual([
    expect.stringMatching(/^A call ended before it was answered; .*promise is still pending/),
  ]);
});

test("without a logger, a fault of each method is a warning of the process, once", async () => {
  const warned = jest.spyOn(process, "emitWarning").mockReturnValue();
  const empty = protos.registration.NotifyRegistrationStatus;
  const full = protos.node.NodeGetInfo;
  const fail = () => {
    throw new Error("no disk");
  };
  await using _driver = await serveCsiDriver({
    ...{ csiAddress: node.csiAddress, pluginRegistrationPath: node.pluginDir },
    addServices: (server) => {
      server.addService(protos.identity, { GetPluginInfo: () => ({ name: DRIVER }) });
      server.addService({ full, empty }, { full: fail, empty: fail } as never);
    },
  });
  const client = createUnixClient(node.csiAddress);
  for (const method of [full, empty, full])
    await expect(callUnary(client, method as typeof full, {}, { timeoutMs: 60_000 })).rejects.toThrow(
      "no disk",
    );
  client.close();
  expect(warned.mock.calls.map(([text]) => String(text))).toEqual(
    [full, empty].map(({ path }) => expect.stringContaining(`no disk; method: ${path}`)),
  );
});
