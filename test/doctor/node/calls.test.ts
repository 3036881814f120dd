import { Server, ServerCredentials, type sendUnaryData } from "@grpc/grpc-js";
import { askDriver } from "../../../src/doctor/node/read/calls";
import { protos } from "../../../src/grpc/protos";
import { listenInPlace } from "../../support/foreign-socket";
import { createTempFolder } from "../../support/temp-folder";

test("NodeGetInfo gets ten times as long as the other calls, as from kubelet", async () => {
  await using folder = await createTempFolder();
  const { GetPluginInfo, Probe } = protos.identity;
  const { NodeGetInfo, NodeGetCapabilities } = protos.node;
  const calls = { GetPluginInfo, Probe, NodeGetInfo, NodeGetCapabilities };
  const minutes: Record<string, number> = {};
  const answer =
    (name: string) => (call: { getDeadline(): Date | number }, callback: sendUnaryData<object>) => {
      minutes[name] = Math.round((Number(call.getDeadline()) - Date.now()) / 60_000);
      callback(null, { name: "x.csi" });
    };
  const driver = new Server();
  driver.addService(
    calls,
    Object.fromEntries(Object.keys(calls).map((name) => [name, answer(name)])) as never,
  );
  const injector = driver.createConnectionInjector(ServerCredentials.createInsecure());
  const path = folder.at("csi.sock");
  const listener = await listenInPlace(path, (socket) => injector.injectConnection(socket));
  await askDriver({ kind: "accepting", path } as Parameters<typeof askDriver>[0], 10 * 60_000);
  driver.forceShutdown();
  await listener.kill();
  expect(minutes).toEqual({ GetPluginInfo: 10, Probe: 10, NodeGetCapabilities: 10, NodeGetInfo: 100 });
});
