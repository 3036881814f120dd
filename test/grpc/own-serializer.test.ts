import type { MethodDefinition } from "@grpc/grpc-js";
import { faultOf, unaryHandler } from "../../src/grpc/handlers";
import { ask, bug, type Callback, FAILED, type Handler, list, serveHandlers } from "./served-handlers";

const encode = (value: unknown) => Buffer.from(JSON.stringify(value));
const decode = (bytes: Buffer) => JSON.parse(bytes.toString());
const JSON_CODEC = {
  ...{ requestSerialize: encode, requestDeserialize: decode },
  ...{ responseSerialize: encode, responseDeserialize: decode },
};
const bare = ({ path, requestStream, responseStream }: MethodDefinition<unknown, unknown>) =>
  ({ path, requestStream, responseStream, ...JSON_CODEC }) as const;
const SERVICES: Readonly<Record<string, { readonly ask: object; readonly list: object }>> = {
  "without a contract": { ask: bare(ask), list: bare(list) },
  "with the contract of a proto file": { ask: { ...ask, ...JSON_CODEC }, list: { ...list, ...JSON_CODEC } },
};
const ANSWERS: readonly unknown[] = [0, "", "text", [1, "a"], { any: { b: 1.5 } }, { a: "not a number" }];

/** What a client gets that reads JSON. */
async function outcomes(service: object, handle: Handler) {
  const write = (call: { end(): void; write(answer: unknown): void }) => {
    for (const answer of ANSWERS) call.write(answer);
    call.end();
  };
  await using served = await serveHandlers({ ask: handle, list: write as Handler }, {}, { service });
  const answer = await served.call({ codec: JSON_CODEC }).answered;
  const all = await served.stream("list", [{}], {}, JSON_CODEC);
  return { answer, all, problems: served.problems() };
}

describe.each(Object.entries(SERVICES))("a service that writes JSON, %s", (_what, service) => {
  test.each([...ANSWERS, undefined, null])("is sent as its handler answers: %j", async (given) => {
    const handlers: readonly Handler[] = [
      (_call) => given,
      (_call, answer: Callback) => answer(null, given),
      (_call, answer: Callback) => {
        setImmediate(answer, null, given);
        return { id: 1, unref: () => {} }; // As fake timers do.
      },
      unaryHandler(async () => given) as Handler,
    ];
    for (const handle of handlers)
      expect(await outcomes(service, handle)).toEqual({
        answer: [0, given ?? {}],
        all: [0, ANSWERS],
        problems: [],
      });
  });

  test("has an error in the log that its handler answers", async () => {
    const { answer, problems } = await outcomes(service, (_call) => bug());
    expect([answer, problems]).toEqual([[13, bug().message], [FAILED]]);
  });
});

class OfGoogle {
  serializeBinary() {}
}
class OfBuf {
  toBinary() {}
}
class OfProtobufjs {
  static encode() {}
  read() {}
}
class Other {
  static decode() {}
  read() {}
}

test.each([
  [OfGoogle, true],
  [OfBuf, true],
  [OfProtobufjs, true],
  [Other, false],
])("an instance without a field is a message if its class writes messages: %p", (Class, isOne) => {
  expect(faultOf(new Class()) === undefined).toBe(isOne);
});
