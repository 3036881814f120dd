import { EventEmitter } from "node:events";
import { makeClientConstructor } from "@grpc/grpc-js";
import { loadProtos } from "../../src/grpc/protos";
import { openHost } from "./open-host";

const { node } = loadProtos();

test.each<[string, object, string]>([
  [
    "a mistyped method",
    { nodeGetInf: () => ({}) },
    "there is no method nodeGetInf; did you mean nodeGetInfo?",
  ],
  ["no function", { nodeGetInfo: 5 }, "its handler is 5, not a function"],
  ["no object", undefined as unknown as object, "the handlers of a service are undefined, not an object"],
])("refused: %s", (_what, handlers, text) => {
  const { host } = openHost();
  expect(() => host.addService(node, handlers)).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(text) }),
  );
});

const Client = makeClientConstructor(node, "Node");
const takesService = "addService takes a service's definition with its methods, as csi.v1.Node.service, not";

test.each<[string, unknown, string]>([
  ["a client", Client, "write .service after it, as in csi.v1.Node.service"],
  ["no methods", {}, `${takesService} an object`],
  ["nothing", undefined, `${takesService} undefined`],
  ["null", null, `${takesService} null`],
  ["a package", { Node: Client }, `${takesService} an object`],
  ["a service's name", "csi.v1.Node", `${takesService} "csi.v1.Node"`],
])("refused for a service: %s", (_what, definition, text) => {
  const { host } = openHost();
  expect(() => host.addService(definition as never, { nodeGetInfo: () => ({}) })).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(text) }),
  );
});

class Base extends EventEmitter {
  NodeGetInfo() {
    return {};
  }
  get nodeGetCapability(): unknown {
    throw new Error("a getter must not be called");
  }
}

test.each<[string, object]>([
  [
    "its class",
    new (class extends Base {
      NodeGetCapabilites() {}
    })(),
  ],
  [
    "a class that it extends",
    new (class extends class extends Base {
      nodeGetCapabilitis() {}
    } {})(),
  ],
  [
    "the object",
    new (class extends Base {
      NodeGetCapabilitie = () => {};
    })(),
  ],
])("refused: a mistyped method of %s", (_what, handlers) => {
  const { host } = openHost();
  expect(() => host.addService(node, handlers)).toThrow(
    /no method (\w+); did you mean [Nn]odeGetCapabilities\?$/,
  );
});

test.each<[string, object]>([
  ["a plain object", { nodeGetInfo: () => ({}), nodeGetInfos: () => [], mountTable: () => "" }],
  [
    "a class",
    new (class extends Base {
      nodeGetInfos() {}
      getCapabilities() {}
      ControllerGetCapabilities() {}
    })(),
  ],
])("helpers beside the methods of %s are nobody's business", (_what, handlers) => {
  const { host } = openHost();
  host.addService(node, handlers);
});

test("refused: a method twice, and no GetPluginInfo at all", () => {
  const { host } = openHost();
  host.addService(node, { nodeGetInfo: () => ({}) });
  expect(() => host.addService(node, { NodeGetInfo: () => ({}) })).toThrow(/NodeGetInfo has two handlers$/);
  expect(host.checkIdentity).toThrow(/add the Identity service$/);
});
