import { Client, type Server, status } from "@grpc/grpc-js";
import { callUnary, createUnixClient } from "../../src/grpc/client/unary";
import { protos } from "../../src/grpc/protos";
import { serveCsiDriver } from "../../src/serving/serve-csi-driver";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { recordLog } from "../support/recorded-log";
import { createTestNode, DRIVER } from "../support/registrar-node";

const node = eachTest(createTestNode);

class Node {
  NodeGetInfo() {}
}
const add = (handlers: object) => (server: Server) => server.addService(protos.node, handlers as never);
const NO_NODE_INFO = {
  message:
    "addServices has added no handler of NodeGetInfo, without which kubelet refuses the driver: is one undefined, or misspelt?",
  fields: { method: protos.node.NodeGetInfo.path },
};
const NONE = {
  message:
    "addServices has added no handler of this service, and each of its calls fails: pass an instance of a class itself, no copy",
  fields: { service: "csi.v1.Node" },
};

test.each<[string, (server: Server) => void, object?]>([
  ["no Node service", () => {}],
  ["an undefined NodeGetInfo", add({ NodeGetInfo: undefined }), NONE],
  ["no handler of its Node service", add({}), NONE],
  ["a copy of a class' instance, which has no methods", add({ ...new Node() }), NONE],
])(
  "a driver with %s is in the log at its start, and kubelet's refusal has the hint",
  async (_what, addNode, said = NO_NODE_INFO) => {
    const log = recordLog(0);
    const kubelet = await node.kubelet();
    await using _driver = await serveCsiDriver({
      ...{ csiAddress: node.csiAddress, pluginRegistrationPath: node.pluginDir, logger: log.logger },
      addServices: (server) => {
        server.addService(protos.identity, { GetPluginInfo: () => ({ name: DRIVER }) });
        addNode(server);
      },
    });
    const warnings = log.records.filter(({ severity }) => severity === "warning");
    expect(warnings.map(({ message, fields }) => ({ message, fields }))).toEqual([said]);
    await kubelet.refused(DRIVER);
    const { fields } = await log.when("Kubelet refused the driver");
    expect(fields.hint).toContain("check that addServices adds its NodeGetInfo, and the option endpoint");
  },
);

test("without a logger, a GetPluginInfo that never answers is a warning before a test runner gives up", async () => {
  const asked = jest.spyOn(Client.prototype, "makeUnaryRequest");
  const warned = jest.spyOn(process, "emitWarning").mockReturnValue();
  const stop = new AbortController();
  const serving = serveCsiDriver({
    ...{ csiAddress: node.csiAddress, pluginRegistrationPath: node.pluginDir, signal: stop.signal },
    addServices: (server) => {
      server.addService(protos.identity, { GetPluginInfo: (_call: unknown, _answer: unknown) => {} });
      add({ ...new Node() })(server);
    },
  });
  serving.catch(() => {});
  const { csiAddress } = node;
  const unnamed = "The driver's own GetPluginInfo has not answered yet: does its handler answer?";
  const texts = [`${NONE.message}; service: csi.v1.Node`, `${unnamed}; csiAddress: ${csiAddress}`];
  await eventually(() => expect(warned.mock.calls.map(([text]) => text)).toEqual(texts));
  const cancel = jest.spyOn(asked.mock.results[0]?.value, "cancel");
  stop.abort();
  expect(cancel).toHaveBeenCalledTimes(1);
  await expect(serving).rejects.toMatchObject({ code: "ABORTED" });
});

test("a start that is given up waits for no call of another client", async () => {
  const [log, stop, entered] = [recordLog(0), new AbortController(), jest.fn()];
  const serving = serveCsiDriver({
    ...{ csiAddress: node.csiAddress, pluginRegistrationPath: node.pluginDir },
    ...{ signal: stop.signal, logger: log.logger },
    addServices: (server) => server.addService(protos.identity, { GetPluginInfo: entered }),
  });
  serving.catch(() => {});
  await eventually(() => expect(entered).toHaveBeenCalledTimes(1));
  const client = createUnixClient(node.csiAddress);
  const call = callUnary(client, protos.identity.GetPluginInfo, {}, { timeoutMs: 60_000 });
  call.catch(() => {});
  await eventually(() => expect(entered).toHaveBeenCalledTimes(2));
  stop.abort();
  await expect(serving).rejects.toMatchObject({ code: "ABORTED" });
  await expect(call).rejects.toMatchObject({ code: status.UNAVAILABLE });
  client.close();
  expect(log.records.filter(({ message }) => /^Waiting for running calls/.test(message))).toEqual([]);
});
