import { getEventListeners } from "node:events";
import { connectDriver } from "../../../src/registrar/driver/driver-connection";
import { PATIENCE_MS } from "../../support/history";
import { recordLog } from "../../support/recorded-log";
import { startScriptedDriver } from "../../support/scripted-driver";
import { createTempFolder } from "../../support/temp-folder";

test("a connection that has ended leaves nothing at its signal, which outlives many", async () => {
  await using folder = await createTempFolder();
  await using driver = await startScriptedDriver(folder.at("csi.sock"), { name: "x.csi" });
  const { signal } = new AbortController();
  const context = { log: recordLog().logger, signal, onCall: () => {} };
  const connection = connectDriver(folder.at("csi.sock"), context);
  await connection.ask(PATIENCE_MS);
  const ended = connection.ended(signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  driver.endConnections();
  await ended;
  expect(getEventListeners(signal, "abort")).toEqual([]);
  connection.close();
});
