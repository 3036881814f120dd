import type { Hold } from "../../../src/registrar/driver/hold";
import type { RegistrationOutcome } from "../../../src/registrar/model/outcome";
import type { Registration } from "../../../src/registrar/registration/registration";
import { controlWaits } from "../../support/controlled-waits";
import { eventually } from "../../support/eventually";
import { recordLog } from "../../support/recorded-log";

const waits = controlWaits({ fromMs: 20_000 });
const loading = import("../../../src/registrar/node-wide/place");

test("a driver that keeps changing its name waits for its turn, also when its socket was gone by then", async () => {
  const { startPlace } = await loading;
  const ends: ((outcome: RegistrationOutcome) => void)[] = [];
  const begin = () =>
    ({
      closed: new Promise((resolve) => ends.push(resolve)),
      close: async () => {},
      subscribe: () => {},
      status: () => ({}),
    }) as unknown as Registration;
  let isThere = true;
  const { logger, ...log } = recordLog();
  const { signal } = new AbortController();
  const context = { begin, isThere: () => isThere, driverGoneAfterMs: 0, log: logger, signal };
  const place = startPlace("/x/csi.sock", {} as Hold, context);
  ends[0]?.({ kind: "stopped" });
  await eventually(() => expect(ends).toHaveLength(2));
  isThere = false;
  ends[1]?.({ kind: "stopped" });
  await log.when("CSI driver changed its name again, trying again later");
  expect(ends).toHaveLength(3);
  isThere = true;
  await waits.end(30_000);
  ends[2]?.({ kind: "stopped" });
  await log.when("CSI driver changed its name again, trying again later", 2);
  place.leave("the test is over");
  ends[3]?.({ kind: "stopped" });
  await place.left;
});
