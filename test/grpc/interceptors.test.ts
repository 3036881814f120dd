import { setImmediate as turn } from "node:timers/promises";
import { ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import { eventually } from "../support/eventually";
import { bug, later, list, NOT_ANSWERED, raise, serveHandlers } from "./served-handlers";

type Call = Parameters<ServerInterceptor>[1];
type Make = (call: Call) => unknown;
type Fault = () => unknown;
const by = (responder: object) => (call: Call) => new ServerInterceptingCall(call, responder);
const listening = (listener: object) => by({ start: (next: (one: object) => void) => next(listener) });

/** Where an interceptor can fail, by what it does there. */
const PLACES: Readonly<Record<string, (fault: Fault) => Make>> = {
  "when it is called": (fault) => fault,
  ...Object.fromEntries(
    ["start", "sendMetadata", "sendMessage", "sendStatus"].map((name) => [
      `in ${name}`,
      (fault: Fault) => by({ [name]: fault }),
    ]),
  ),
  ...Object.fromEntries(
    ["onReceiveMetadata", "onReceiveMessage", "onReceiveHalfClose"].map((name) => [
      `in ${name}`,
      (fault: Fault) => listening({ [name]: fault }),
    ]),
  ),
  "in a method of its call": (fault) => (call) =>
    Object.assign(new ServerInterceptingCall(call), { sendStatus: fault }),
};
const FAULTS: Readonly<Record<string, Fault>> = {
  throws: () => raise(bug()),
  rejects: async () => raise(bug()),
  "rejects later": () => turn().then(() => raise(bug())),
};
const FAILED = "An interceptor failed";

interface Stream extends AsyncIterable<unknown> {
  write(answer: object): void;
  end(): void;
}
/** Between two interceptors that only pass on. */
async function serveIntercepted(intercept: Make) {
  const answer = (stream: Stream) => {
    stream.write({ a: 1 });
    stream.end();
  };
  const chat = async (stream: Stream) => {
    for await (const _request of stream);
    answer(stream);
  };
  const interceptors = [by({}), intercept, by({})].map(
    (make) => (_method: unknown, call: Call) => make(call),
  );
  return serveHandlers({ ask: () => ({ a: 1 }), list: answer, chat } as never, { interceptors });
}

test.each(
  Object.entries(PLACES).flatMap(([place, make]) =>
    Object.entries(FAULTS).map(([how, fault]) => [how, place, make(fault)] as const),
  ),
)("an interceptor that %s %s fails its call, and not the process", async (_how, _place, intercept) => {
  await using served = await serveIntercepted(intercept);
  const outcomes = await Promise.all([served.call().answered, served.stream("list"), served.stream("chat")]);
  for (const outcome of outcomes) expect(outcome).toEqual([status.INTERNAL, expect.any(String)]);
  await eventually(() => expect(served.problems().filter((one) => one === FAILED).length).toBeGreaterThan(2));
  expect(served.log.all(FAILED)[0]).toMatchObject({ fields: { method: expect.stringContaining("/x.Y/") } });
});

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["an object that is no call", {}],
])("an interceptor that returns %s is told what it takes", async (_what, returned) => {
  await using served = await serveIntercepted(() => returned);
  const takes = "; it takes a ServerInterceptingCall of its call";
  expect(await served.call().answered).toEqual([status.INTERNAL, expect.stringContaining(takes)]);
  expect(served.problems()).toContain(FAILED);
});

/** Where an interceptor gets the call from its handler; elsewhere it gets it before. */
const ON_THE_WAY_BACK = /send|method/;
test.each(
  Object.entries(PLACES)
    .slice(1)
    .map(([place, make]) => [place, make(() => {})] as const),
)("a call that an interceptor drops %s is in the log, once, with a hint", async (place, intercept) => {
  await using served = await serveIntercepted(intercept);
  const deadline = () => Date.now() + 200;
  const outcomes = await Promise.all([
    served.call({ deadline: deadline() }).answered,
    served.stream("list", [{}], { deadline: deadline() }),
  ]);
  expect(outcomes.map((outcome) => [outcome].flat()[0])).toEqual(
    outcomes.map(() => status.DEADLINE_EXCEEDED),
  );
  await eventually(() => expect(served.problems()).toEqual([NOT_ANSWERED, NOT_ANSWERED]));
  const hint = ON_THE_WAY_BACK.test(place) ? "its handler has answered" : "no handler got it";
  for (const { fields } of served.log.all(NOT_ANSWERED))
    expect(fields).toMatchObject({
      method: expect.stringContaining("/x.Y/"),
      hint: expect.stringMatching(`^${hint}: does an interceptor`),
    });
});

test("what an interceptor throws when its call is over is in the log", async () => {
  await using served = await serveIntercepted(listening({ onCancel: FAULTS.throws }));
  expect(await served.call().answered).toEqual([status.OK, { a: 1 }]);
  await eventually(() => expect(served.problems()).toEqual([FAILED]));
});

test("an interceptor refuses a call by an error with a gRPC code, which is not in the log", async () => {
  const refuse = async () => raise(Object.assign(new Error("no token"), { code: status.UNAUTHENTICATED }));
  await using served = await serveIntercepted(listening({ onReceiveMetadata: refuse }));
  expect(await served.call().answered).toEqual([status.UNAUTHENTICATED, "no token"]);
  expect(served.problems()).toEqual([]);
});

test("an interceptor that throws the name of a code has a hint in the log", async () => {
  const refuse = async () => raise(Object.assign(new Error("no token"), { code: "UNAUTHENTICATED" }));
  await using served = await serveIntercepted(listening({ onReceiveMetadata: refuse }));
  expect(await served.call().answered).toEqual([status.INTERNAL, "no token"]);
  const { fields } = await served.log.when(FAILED);
  expect(fields.hint).toMatch("status.UNAUTHENTICATED");
});

test("what grpc-js throws for a status of an interceptor ends its call", async () => {
  const intercept = by({
    sendStatus: (_status: unknown, next: (none: unknown) => void) => setImmediate(next),
  });
  await using served = await serveIntercepted(intercept);
  expect(await served.call().answered).toEqual([status.INTERNAL, expect.any(String)]);
  expect(served.problems()).toEqual([FAILED]);
});

test("an interceptor that waits before it passes on is part of the call", async () => {
  const wait = async (given: unknown, next: (one: unknown) => void) => {
    await turn();
    next(given);
  };
  const intercept = listening({ onReceiveMetadata: wait, onReceiveMessage: wait });
  await using served = await serveIntercepted(intercept);
  expect(await served.call().answered).toEqual([status.OK, { a: 1 }]);
  expect(await served.stream("list")).toEqual([status.OK, [{ a: 1 }]]);
});

test("a client that leaves a stream of which an interceptor filters the answers is not in the log", async () => {
  const [entered, left] = [later<void>(), later<void>()];
  const handler = (call: Stream & NodeJS.EventEmitter) => {
    for (const a of [1, 2]) call.write({ a });
    entered.resolve();
    call.once("cancelled", () => setImmediate(left.resolve));
  };
  const filter = (message: { a: number }, next: (passed: unknown) => void) => message.a > 1 && next(message);
  const interceptors = [(_method: unknown, call: Call) => by({ sendMessage: filter })(call)];
  await using served = await serveHandlers({ list: handler } as never, { interceptors });
  const stream = served.client.makeServerStreamRequest(
    ...([list.path, list.requestSerialize, list.responseDeserialize, {}] as const),
  );
  stream.on("error", () => {});
  await entered.promise;
  stream.cancel();
  await left.promise;
  await turn();
  expect(served.problems()).toEqual([]);
});
