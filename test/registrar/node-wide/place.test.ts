import fs from "node:fs";
import { RegistrarError, systemError } from "../../../src/base/errors";
import type { Hold } from "../../../src/registrar/driver/hold";
import type { RegistrationOutcome } from "../../../src/registrar/model/outcome";
import type { Registration } from "../../../src/registrar/registration/registration";
import { controlWaits } from "../../support/controlled-waits";
import { eventually } from "../../support/eventually";
import { recordLog } from "../../support/recorded-log";

const waits = controlWaits({ fromMs: 20_000 });
const loading = import("../../../src/registrar/node-wide/place");

/** A place whose registrations end as the test says. */
async function start() {
  const { startPlace } = await loading;
  const ends: ((outcome: RegistrationOutcome) => void)[] = [];
  const holds: (Hold | undefined)[] = [];
  const losses: (() => void)[] = [];
  const begin = (hold?: Hold) => {
    holds.push(hold);
    return {
      closed: new Promise((resolve) => ends.push(resolve)),
      close: async () => {},
      subscribe: (_kind: string, lost: () => void) => losses.push(lost),
      status: () => ({}),
    } as unknown as Registration;
  };
  const there = { is: true };
  const { logger, ...log } = recordLog();
  const { signal } = new AbortController();
  const context = { begin, isThere: () => there.is, driverGoneAfterMs: 0, log: logger, signal };
  return { place: startPlace("/x/csi.sock", {} as Hold, context), ends, holds, losses, there, log };
}

test("a driver that keeps changing its name waits for its turn, also when its socket was gone by then", async () => {
  const { place, ends, holds, there, log } = await start();
  ends[0]?.({ kind: "stopped" });
  await eventually(() => expect(ends).toHaveLength(2));
  there.is = false;
  ends[1]?.({ kind: "stopped" });
  await log.when("CSI driver changed its name again, trying again later");
  expect(ends).toHaveLength(3);
  const text = "it changed its name again, and is asked again 30s after that";
  expect(holds[2]?.status()).toEqual({ identity: undefined, trouble: { kind: "renamed", text } });
  there.is = true;
  await waits.end(30_000);
  ends[2]?.({ kind: "stopped" });
  await log.when("CSI driver changed its name again, trying again later", 2);
  place.leave("the test is over");
  ends[3]?.({ kind: "stopped" });
  await place.left;
});

test("the wait for a driver that fails doubles, also where it took longer than a steady driver must stay", async () => {
  const { place, ends, holds, log } = await start();
  let now = performance.now();
  jest.spyOn(performance, "now").mockImplementation(() => now);
  const error = new RegistrarError("UNSAFE_DRIVER_NAME", "no name");
  const told: unknown[] = [];
  for (const waitMs of [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
    ends.at(-1)?.({ kind: "failed", error });
    const { fields } = await log.when("Trying again later, or when the CSI driver restarts", told.length + 1);
    told.push(fields.after);
    const trouble = { kind: "failed", text: "no name" };
    expect(holds.at(-1)?.status()).toEqual({ identity: undefined, trouble });
    now += waitMs;
    await waits.end(waitMs);
    await holds.at(-1)?.until;
  }
  expect(told).toEqual(["30s", "60s", "120s", "240s", "300s", "300s"]);
  place.leave("the test is over");
  ends.at(-1)?.({ kind: "stopped" });
  await place.left;
});

test("a look at a driver that was lost ends with its registration: the next one is not taken for gone", async () => {
  const { place, ends, losses } = await start();
  const look = jest.spyOn(fs.promises, "stat");
  losses[0]?.();
  ends[0]?.({ kind: "stopped" });
  await new Promise((resolve) => setTimeout(resolve, 0)); // Behind the look's own timer of 0 ms.
  expect([ends.length, look.mock.calls]).toEqual([2, []]);
  look.mockRestore();
  place.leave("the test is over");
  ends[1]?.({ kind: "stopped" });
  await place.left;
});

test("a driver whose registration fails while it is looked at waits for its turn, and has not gone", async () => {
  const { place, ends, losses, log } = await start();
  let answer = () => {};
  const answering = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const look = jest.spyOn(fs.promises, "stat").mockImplementation(async () => {
    await answering;
    throw systemError("ENOENT");
  });
  losses[0]?.();
  await eventually(() => expect(look).toHaveBeenCalled());
  ends[0]?.({ kind: "failed", error: new RegistrarError("UNSAFE_DRIVER_NAME", "no name") });
  await log.when("Trying again later, or when the CSI driver restarts");
  answer();
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  expect(log.all("CSI driver has gone")).toEqual([]);
  look.mockRestore();
  place.leave("the test is over");
  ends[1]?.({ kind: "stopped" });
  await place.left;
});
