import { loadProtos } from "../../../src/grpc/protos";
import { controlWaits } from "../../support/controlled-waits";
import { eventually } from "../../support/eventually";
import { recordLog } from "../../support/recorded-log";
import { startScriptedDriver } from "../../support/scripted-driver";
import { createTempFolder } from "../../support/temp-folder";

const FIRST_MS = 100;
const LONGEST_MS = 10_000;
const waits = controlWaits({ fromMs: FIRST_MS / 2 });
const loading = import("../../../src/registrar/driver/watch-driver");

test("a driver whose connections do not last is reconnected to at a growing distance", async () => {
  await using folder = await createTempFolder();
  const csiSocketPath = folder.at("csi.sock");
  const { watchCsiDriver } = await loading;
  const stop = new AbortController();
  const log = recordLog();
  let answers = 0;
  const watching = watchCsiDriver(
    { csiSocketPath, timeoutMs: 5_000, driverTimeoutMs: 0 },
    { protos: loadProtos(), log: log.logger, signal: stop.signal },
    { onAnswered: () => answers++, onLost: () => {}, onCall: () => {} },
  );
  const waited: number[] = [];
  for (let time = 1; time <= 12; time++) {
    const driver = await startScriptedDriver(csiSocketPath, { name: "x.csi" });
    await eventually(() => expect(answers).toBe(time));
    await driver.kill();
    const [ms = 0] = await eventually(() => {
      const held = waits.pending();
      expect(held).toHaveLength(1);
      return held;
    });
    waited.push(ms);
    await waits.end(ms);
  }
  for (const [time, ms] of waited.entries()) {
    const most = Math.min(FIRST_MS * 2 ** time, LONGEST_MS);
    expect(ms).toBeLessThanOrEqual(most);
    expect(ms).toBeGreaterThanOrEqual(most * 0.8);
  }
  stop.abort();
  await watching;
});
