import { Server } from "@grpc/grpc-js";
import { checkServices } from "../../src/grpc/added-services";
import { protos } from "../../src/grpc/protos";
import { serveHandlers } from "./served-handlers";

const service = protos.node;
const handler = () => ({});

class Handlers {
  NodeGetInfo() {}
  get nodeGetInfo() {
    return this.NodeGetInfo;
  }
}

class WithoutHandler {
  readonly NodeGetInfos = new Map();
  readonly nodeGetInf = 100;
  readonly findGetInfo = () => [];
}
class Mistyped {
  readonly nodeGetInf = handler;
}
/** Its method is on a prototype. */
class MistypedMethod {
  nodeGetinfo() {}
}

const TAKES = "it takes an object with a function for each method";
test.each<[what: string, handlers: unknown, text: string, service?: unknown]>([
  ["a list", [handler], `the handlers are an array; ${TAKES}`],
  ["a Map", new Map([["NodeGetInfo", handler]]), `the handlers are a Map; ${TAKES}`],
  ["a promise", Promise.resolve({ NodeGetInfo: handler }), `the handlers are a Promise; ${TAKES}`],
  ["nothing", undefined, `the handlers are undefined; ${TAKES}`],
  ["a class without static methods", Handlers, `the handlers are a function; ${TAKES}`],
  [
    "a proxy of what is no function",
    new Proxy({}, { get: () => 1 }),
    "the handler of NodeGetInfo is 1; it takes a function",
  ],
  ["a text", "NodeGetInfo", `the handlers are "NodeGetInfo"; ${TAKES}`],
  ["null for a handler", { NodeGetInfo: null }, "the handler of NodeGetInfo is null; it takes a function"],
  ["null in camel case", { nodeGetInfo: null }, "the handler of nodeGetInfo is null; it takes a function"],
  [
    "null beside a handler",
    { NodeGetInfo: handler, nodeGetInfo: null },
    "the handler of nodeGetInfo is null; it takes a function",
  ],
  [
    "two handlers of a method",
    { NodeGetInfo: handler, nodeGetInfo: () => {} },
    "there are two handlers of one method, NodeGetInfo and nodeGetInfo",
  ],
  ["a near word in a class", new Mistyped(), "there is no method nodeGetInf; did you mean NodeGetInfo?"],
  [
    "a near word among a class' methods",
    new MistypedMethod(),
    "there is no method nodeGetinfo; did you mean NodeGetInfo?",
  ],
  [
    "a near word among an extended class' methods",
    new (class extends MistypedMethod {})(),
    "there is no method nodeGetinfo; did you mean NodeGetInfo?",
  ],
  ["another case", { nodegetinfo: handler }, "there is no method nodegetinfo; did you mean NodeGetInfo?"],
  ["snake case", { node_get_info: handler }, "there is no method node_get_info; did you mean NodeGetInfo?"],
  ["no service", {}, "the service is undefined; it takes a service definition", null],
  [
    "a client's class for a service",
    {},
    "the service is a function; it takes a service definition, such as csi.v1.Node.service",
    Object.assign(() => {}, { service }),
  ],
])("addService refuses %s", (_what, handlers, text, given = service) => {
  const server = new Server();
  checkServices(server);
  const add = () => server.addService((given ?? undefined) as never, handlers as never);
  expect(add).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  expect(add).toThrow(`addService: ${text}`);
});

test.each<[what: string, handlers: unknown]>([
  ["undefined for a handler", { NodeGetInfo: handler, nodeGetInfo: undefined }],
  ["one handler under both names", { NodeGetInfo: handler, nodeGetInfo: handler }],
  ["an instance of a class", new Handlers()],
  ["an instance without a handler, but with state and helpers", new WithoutHandler()],
  [
    "a module, with a class and a helper",
    Object.assign(Object.create(null), {
      NodeGetInfo: handler,
      Volume: class {},
      find: handler,
      [Symbol.toStringTag]: "Module",
    }),
  ],
  ["a plain object with a helper", { NodeGetInfo: handler, close: () => {} }],
])("addService takes %s", (_what, handlers) => {
  const server = new Server();
  checkServices(server);
  server.addService(service, handlers as never);
});

test.each(["NodeGetInfo", "nodeGetInfo"])("the handler that was added as %s is known", (name) => {
  const server = new Server();
  const known = checkServices(server);
  server.addService(service, { [name]: handler } as never);
  expect(known.handlerOf("/csi.v1.Node/NodeGetInfo")).toBe(handler);
});

const Static = Object.assign(class {}, {
  answer: { a: 1 },
  ask() {
    return this.answer;
  },
});
/** Every read makes a function, whatever its name. */
const anyName = { get: () => () => ({ a: 1 }) };
const traced = new Proxy({ ask: () => ({ a: 1 }) }, { get: (of, name) => Reflect.get(of, name)?.bind(of) });

test.each<[what: string, handlers: object]>([
  ["a class with static methods", Static],
  ["a class that extends one", class extends Static {}],
  ["a proxy that has every name", new Proxy({}, { ...anyName, has: () => true })],
  ["a proxy of handlers", traced],
  ["a proxy of a class", new Proxy(Static, {})],
])("the handlers of %s answer", async (_what, handlers) => {
  await using served = await serveHandlers(handlers as never);
  expect(await served.call().answered).toEqual([0, { a: 1 }]);
  expect(served.problems()).toEqual([]);
});
