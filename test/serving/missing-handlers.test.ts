import type { Server } from "@grpc/grpc-js";
import { protos } from "../../src/grpc/protos";
import { serveCsiDriver } from "../../src/serving/serve-csi-driver";
import { eachTest } from "../support/each-test";
import { recordLog } from "../support/recorded-log";
import { createTestNode, DRIVER } from "../support/registrar-node";

const node = eachTest(createTestNode);

class Node {
  NodeGetInfo() {}
}
const add = (handlers: object) => (server: Server) => server.addService(protos.node, handlers as never);
const NONE = /^addServices has added no handler of this service/;

test.each<[string, (server: Server) => void, RegExp?]>([
  ["no Node service", () => {}],
  ["an undefined NodeGetInfo", add({ NodeGetInfo: undefined }), NONE],
  ["no handler of its Node service", add({}), NONE],
  ["a copy of a class' instance, which has no methods", add({ ...new Node() }), NONE],
])(
  "a driver with %s is in the log at its start, and kubelet's refusal has the hint",
  async (_what, addNode, said = /^addServices has added no handler of NodeGetInfo/) => {
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
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringMatching(said)]);
    await kubelet.refused(DRIVER);
    const { fields } = await log.when("Kubelet refused the driver");
    expect(fields.hint).toContain("check that addServices adds its NodeGetInfo, and the option endpoint");
  },
);

test("a GetPluginInfo that never answers is in the log before a test runner gives up", async () => {
  const log = recordLog(0);
  const stop = new AbortController();
  const serving = serveCsiDriver({
    ...{ csiAddress: node.csiAddress, pluginRegistrationPath: node.pluginDir, logger: log.logger },
    signal: stop.signal,
    addServices: (server) =>
      server.addService(protos.identity, { GetPluginInfo: (_call: unknown, _answer: unknown) => {} }),
  });
  await log.when("The driver's own GetPluginInfo has not answered yet: does its handler answer?");
  stop.abort();
  await expect(serving).rejects.toMatchObject({ code: "ABORTED" });
});
