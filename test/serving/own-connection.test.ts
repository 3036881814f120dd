import { protos } from "../../src/grpc/protos";
import { serveCsiDriver } from "../../src/serving/serve-csi-driver";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { createTestNode, DRIVER } from "../support/registrar-node";

const node = eachTest(createTestNode);

test("a served driver keeps no connection to itself from the question for its name", async () => {
  const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === "PipeWrap").length;
  const before = sockets();
  await using _driver = await serveCsiDriver({
    csiAddress: node.csiAddress,
    pluginRegistrationPath: node.pluginDir,
    addServices: (server) =>
      server.addService(protos.identity, {
        GetPluginInfo: (_call: unknown, answer: (error: null, info: object) => void) =>
          answer(null, { name: DRIVER, vendorVersion: "1" }),
      }),
  });
  // On which the driver and its registration listen.
  await eventually(() => expect(sockets()).toBe(before + 2));
});
