import { CSI_NODE_PACE } from "../../src/node-readiness/csi-node-keeper";
import { parseCsiNode } from "../../src/node-readiness/node-api";
import { createTestNode, DRIVER, startTestRegistrar } from "../support/registrar-node";
import { startReadiness } from "./support/fixture";
import { startScriptedApiServer } from "./support/scripted-api-server";

const QUICK = {
  ...CSI_NODE_PACE,
  lookEveryMs: 50,
  graceMs: 50,
  again: { initialMs: 3_600_000, maxMs: 3_600_000 },
};

test("after the CSINode was deleted kubelet registers the driver again and lists it", async () => {
  await using node = await createTestNode();
  await node.driver();
  const kubelet = await node.kubelet();
  await using server = await startScriptedApiServer();
  // What kubelet writes is what the API server has.
  kubelet.events.subscribe(({ kind }) => {
    if (kind === "csi-node-changed") server.listed = parseCsiNode(kubelet.csiNode())?.drivers ?? [];
  });
  const { registrar, log } = node.keep(await startTestRegistrar(node, { endpoint: node.csiAddress }));
  await registrar.ready;
  const given = { registrations: registrar, access: server.access, condition: "a/b", logger: log.logger };
  const { readiness } = node.keep(startReadiness({ ...given, pace: { csiNode: QUICK } }));
  expect(server.listed).toEqual([DRIVER]);

  server.listed = [];
  await log.when("CSINode lists the driver again");
  expect(server.listed).toEqual([DRIVER]);
  expect(registrar.status()).toMatchObject({
    state: "registered",
    counters: { publications: { reregister: 1 } },
  });
  expect(readiness.status().csiNode).toEqual([
    { driverName: DRIVER, missedAtMs: undefined, reregistrations: 1 },
  ]);
});
