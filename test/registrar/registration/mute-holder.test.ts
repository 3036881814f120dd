import { controlWaits } from "../../support/controlled-waits";
import { eachTest } from "../../support/each-test";
import { startForeignSocket } from "../../support/foreign-socket";
import { recordLog } from "../../support/recorded-log";
import { createTempFolder } from "../../support/temp-folder";

const waits = controlWaits();
const loading = import("../../../src/registrar/registration/mute-holder");
const folder = eachTest(createTempFolder);

/** Until the holder was asked twice; the second ask calls `end`. */
async function askTwice(end: (over: AbortController) => void) {
  const { warnWhileMute } = await loading;
  const log = recordLog();
  const over = new AbortController();
  const warning = warnWhileMute(folder.at("x.sock"), 600_000, log.logger, over.signal);
  for (let ask = 0; ask < 2; ask++) await waits.end(15_000);
  end(over);
  return { log, over, warning };
}

test("does not warn of a holder that goes while it is asked", async () => {
  let asked = 0;
  let end = () => {};
  await using _holder = await startForeignSocket(folder.at("x.sock"), (socket) => {
    asked += 1;
    if (asked === 2) end();
    socket.destroy();
  });
  const { warning, log } = await askTwice((over) => {
    end = () => over.abort();
  });
  await warning;
  expect([asked, log.records]).toEqual([2, []]);
});

test("a holder whose socket is gone does not answer", async () => {
  const { warning, log, over } = await askTwice(() => {});
  await log.when("The registrar that holds the socket accepts connections and does not answer");
  over.abort();
  await warning;
});
