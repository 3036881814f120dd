import type { Server } from "@grpc/grpc-js";
import { protos } from "../../src/grpc/protos";
import { serveCsiDriver } from "../../src/serving/serve-csi-driver";
import { eachTest } from "../support/each-test";
import { recordLog } from "../support/recorded-log";
import { createTestNode, DRIVER } from "../support/registrar-node";

const node = eachTest(createTestNode);

test.each<[string, (server: Server) => void]>([
  ["no Node service", () => {}],
  [
    "an undefined NodeGetInfo",
    (server) => server.addService(protos.node, { NodeGetInfo: undefined } as never),
  ],
])(
  "a driver with %s is in the log at its start, and kubelet's refusal has the hint",
  async (_what, addNode) => {
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
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^addServices has added no handler of NodeGetInfo/),
    ]);
    await kubelet.refused(DRIVER);
    const { fields } = await log.when("Kubelet refused the driver");
    expect(fields.hint).toContain("check that addServices adds its NodeGetInfo, and the option endpoint");
  },
);
