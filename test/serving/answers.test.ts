import { once } from "node:events";
import { type Server, ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import { callUnary, createUnixClient } from "../../src/grpc/client/unary";
import { unaryHandler } from "../../src/grpc/handlers";
import { protos } from "../../src/grpc/protos";
import { serveCsiDriver } from "../../src/serving/serve-csi-driver";
import { later } from "../grpc/served-handlers";
import { eachTest } from "../support/each-test";
import { recordLog } from "../support/recorded-log";
import { createTestNode, DRIVER } from "../support/registrar-node";

const method = protos.node.NodeGetInfo;
const ASK = method.path;

const node = eachTest(createTestNode);

async function serve(
  handler: unknown,
  interceptors: ServerInterceptor[] = [],
  { isStream = false, graceMs = 10_000 } = {},
) {
  const log = recordLog(0);
  const driver = await serveCsiDriver({
    ...{ csiAddress: node.csiAddress, pluginRegistrationPath: node.pluginDir, logger: log.logger },
    ...{ serverOptions: { interceptors }, graceMs },
    addServices: (server: Server) => {
      server.addService(protos.identity, { GetPluginInfo: () => ({ name: DRIVER }) });
      server.addService({ NodeGetInfo: { ...method, responseStream: isStream } }, {
        NodeGetInfo: handler,
      } as never);
    },
  });
  const client = createUnixClient(node.csiAddress);
  return {
    ...{ log, driver },
    ask: () => callUnary(client, method, {}, { timeoutMs: 60_000 }),
    list: () => client.makeServerStreamRequest(ASK, method.requestSerialize, method.responseDeserialize, {}),
    [Symbol.asyncDispose]: async () => {
      client.close();
      await driver.close();
    },
  };
}

const CHANGED = { nodeId: "n", accessibleTopology: { segments: new Map([["zone", "a"]]) } };
const FAULT = "the answer's accessibleTopology.segments is a Map; it takes a plain object";
type Respond = (error: null, answer: object) => void;
const changing: ServerInterceptor = ({ path }, call) =>
  new ServerInterceptingCall(call, {
    sendMessage: (message, next) => next(path === ASK ? CHANGED : message),
  });

test.each<[string, unknown, ServerInterceptor[]]>([
  ["its return value", () => CHANGED, []],
  ["its promise", async () => CHANGED, []],
  ["its callback", (_call: unknown, answer: Respond) => answer(null, CHANGED), []],
  ["unaryHandler", unaryHandler(() => CHANGED), []],
  ["an interceptor", () => ({ nodeId: "n" }), [changing]],
])(
  "an answer that protobuf would change, by %s, fails its call and is an error in the log",
  async (_by, handler, more) => {
    await using served = await serve(handler, more);
    await expect(served.ask()).rejects.toMatchObject({
      code: status.INTERNAL,
    });
    const { severity, error, fields } = await served.log.when("Cannot encode a handler's answer");
    expect([severity, (error as Error).message, fields.method]).toEqual([
      "error",
      expect.stringContaining(FAULT),
      ASK,
    ]);
  },
);

test("an answer of a stream that protobuf would change ends it with an error, after the answers before it", async () => {
  const handler = (call: { write(answer: object): void; end(): void }) => {
    for (const answer of [{ nodeId: "n" }, CHANGED, { nodeId: "m" }]) call.write(answer);
    call.end();
  };
  await using served = await serve(handler, [], { isStream: true });
  const answers: unknown[] = [];
  const stream = served.list().on("data", (answer) => answers.push(answer));
  const [error] = await once(stream, "error");
  expect(error).toMatchObject({ code: status.INTERNAL });
  expect(answers).toMatchObject([{ nodeId: "n" }]);
  await served.log.when("Cannot encode a handler's answer");
});

test("a field that the message lacks is dropped, with one warning a minute that names a near one; so is another", async () => {
  const answers = [{ nodeID: "n" }, { nodeID: "n", maxVolumes: 1 }, { zone: "a" }];
  await using served = await serve(() => ({ ...answers.shift(), maxVolumesPerNode: 3 }));
  for (const _answer of [...answers])
    expect(await served.ask()).toMatchObject({ nodeId: "", maxVolumesPerNode: 3 });
  const lines = served.log.records.filter(({ severity }) => severity !== "info");
  const message = "A handler's answer has fields that its message lacks, they are not sent";
  expect(lines.map(({ severity, message, fields }) => [severity, message, fields])).toEqual(
    ["nodeID; did you mean nodeId?", "maxVolumes", "zone"].map((field) => [
      "warning",
      message,
      { method: ASK, unsent: [field] },
    ]),
  );
});

test("of a method at most 64 such fields are named", async () => {
  const unknown = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`zone${at}`, "a"]));
  const { lines } = await outcomeOf({ nodeId: "n", ...unknown });
  expect(lines).toHaveLength(64);
});

class Dto {}
/** An instance whose class has a getter for each field. */
function withGetters(fields: object): object {
  class Getters extends Dto {}
  for (const [name, value] of Object.entries(fields))
    Object.defineProperty(Getters.prototype, name, { get: () => value });
  return new Getters();
}
/** What the client gets, and what is in the log. */
async function outcomeOf(answer: object) {
  await using served = await serve(unaryHandler(() => answer));
  const sent = await served.ask();
  const lines = served.log.records.filter(({ severity }) => severity !== "info");
  return { sent, lines: lines.map(({ message, fields }) => [message, fields]) };
}
const topology = Object.assign(new Dto(), { segments: { a: "b" }, other: 1 });

test.each<object>([
  { nodeId: "n" },
  { nodeId: "n", maxVolumesPerNode: 3 },
  { nodeId: "n", socket: 1 },
  { nodeID: "n", accessibleTopology: topology },
  { accessibleTopology: withGetters({ segments: { a: "b" } }) },
])("an instance of a class is sent as a plain object with its fields is: %j", async (fields) => {
  const plain = await outcomeOf(fields);
  expect(await outcomeOf(Object.assign(new Dto(), fields))).toEqual(plain);
  expect((await outcomeOf(withGetters(fields))).sent).toEqual(plain.sent);
});

test("an instance with no field of the message fails its call, and the text names its fields", async () => {
  const nodeInfo = Object.assign(new Dto(), { nodeID: "n", find: () => {} });
  await using served = await serve(unaryHandler(() => nodeInfo));
  const details = expect.stringContaining(
    "answered an instance of Dto, and its message has no nodeID; it takes",
  );
  await expect(served.ask()).rejects.toMatchObject({ code: status.INTERNAL, details });
});

test.each<[unknown, string]>([
  [Buffer.from("ab"), "an instance of Buffer"],
  [5, "5"],
  [["a"], "an array"],
  [new Map(), "an instance of Map"],
])("what an interceptor sends that is no answer fails its call: %p", async (given, what) => {
  const replacing: ServerInterceptor = ({ path }, call) =>
    new ServerInterceptingCall(call, {
      sendMessage: (message, next) => next(path === ASK ? given : message),
    });
  await using served = await serve(() => ({ nodeId: "n" }), [replacing]);
  await expect(served.ask()).rejects.toMatchObject({ code: status.INTERNAL });
  const { error } = await served.log.when("Cannot encode a handler's answer");
  expect(String(error)).toContain(`answered ${what}; it takes a plain object`);
});

test("a client that leaves a stream is not in the log", async () => {
  const left = later<void>();
  const handler = (call: { write(answer: object): void; once(name: string, hear: () => void): void }) => {
    call.write({ nodeId: "n" });
    call.once("cancelled", () => setImmediate(left.resolve));
  };
  await using served = await serve(handler, [], { isStream: true });
  const stream = served.list().on("error", () => {});
  await once(stream, "data");
  stream.cancel();
  await left.promise;
  expect(served.log.records.filter(({ severity }) => severity !== "info")).toEqual([]);
});

test.each<["close" | "destroy"]>([["close"], ["destroy"]])(
  "a watch that has written is not in the log when %s() ends it",
  async (end) => {
    const watch = (call: { write(answer: object): void }) => void call.write({ nodeId: "n" });
    await using served = await serve(watch, [], { isStream: true, graceMs: 1 });
    const stream = served.list().on("error", () => {});
    await once(stream, "data");
    await served.driver[end]();
    expect(served.log.records.filter(({ severity }) => severity !== "info")).toEqual([]);
  },
);

test.each<["close" | "destroy", boolean]>([
  ["close", false],
  ["destroy", false],
  ["close", true],
])("the log has a call that %s() cuts off before that resolves; of a stream: %s", async (end, isStream) => {
  const entered = later<void>();
  const hang = (_call: unknown, _callback: unknown) => entered.resolve();
  await using served = await serve(hang, [], { isStream, graceMs: 1 });
  const answered = isStream ? once(served.list(), "error") : served.ask();
  answered.catch(() => {}); // It is cut off.
  await entered.promise;
  await served.driver[end]();
  const message = "Cut off a call that was not answered";
  expect(served.log.all(message)).toMatchObject([{ severity: "error", fields: { method: ASK } }]);
  await answered.catch(() => {});
  expect(served.log.all(message)).toHaveLength(1);
});
