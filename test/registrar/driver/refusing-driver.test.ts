import { setTimeout as delay } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { startScriptedDriver } from "../../support/scripted-driver";
import { createTempFolder } from "../../support/temp-folder";
import { watchAt } from "../../support/watched-driver";

const x = { name: "x.csi" };

test.each([
  [status.UNIMPLEMENTED, "wait until the driver restarts: it does not implement GetPluginInfo"],
  [status.INVALID_ARGUMENT, "retry in 30s, or when the driver restarts"],
  [status.PERMISSION_DENIED, "retry in 30s, or when the driver restarts"],
  [status.UNAUTHENTICATED, "retry in 30s, or when the driver restarts"],
])("after code %d asks no more until the driver restarted", async (code, next) => {
  await using folder = await createTempFolder();
  const socketPath = folder.at("csi.sock");
  await using driver = await startScriptedDriver(socketPath, { code });
  await using watch = watchAt(socketPath);
  const said = await watch.log.when("Error retreiving CSI driver name");
  expect(said.fields).toEqual({ next });
  // One that does not know the call may not be asked it again: it is not even looked for before it has gone.
  expect(watch.log.all("Connecting")).toHaveLength(code === status.UNIMPLEMENTED ? 1 : 2);
  // Longer than any first wait between two attempts; a server that merely ends its connections is the same server.
  for (let round = 0; round < 4; round++) {
    driver.endConnections();
    await delay(50);
  }
  expect(driver.authorities).toHaveLength(1);

  await driver.kill();
  await using _better = await startScriptedDriver(socketPath, x);
  await watch.untilAnswered();
});
