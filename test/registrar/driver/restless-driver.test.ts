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
  let driver = await startScriptedDriver(csiSocketPath, { name: "x.csi" });
  await eventually(() => expect(answers).toBe(1));
  for (let time = 0; time < 12; time++) {
    const lostAtMs = performance.now();
    await driver.kill();
    driver = await startScriptedDriver(csiSocketPath, { name: "x.csi" });
    const most = Math.min(FIRST_MS * 2 ** time, LONGEST_MS);
    // The driver is back at once; what has passed since its loss is not waited again, and a short wait may be over.
    const ms = await eventually(() => {
      const passedMs = performance.now() - lostAtMs;
      const held = waits.pending().find((one) => one <= most && one >= most * 0.8 - passedMs);
      if (held === undefined && passedMs < most * 0.8) throw new Error(`no wait of ${most} ms is held`);
      return held;
    });
    if (ms !== undefined) {
      expect(answers).toBe(time + 1);
      await waits.end(ms);
    }
    await eventually(() => expect(answers).toBe(time + 2));
  }
  await driver.kill();
  stop.abort();
  await watching;
});
