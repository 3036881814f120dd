import { warmUp, warmUpWhileWaiting } from "../../src/cli/warm-up";
import type { Fleet } from "../../src/registrar/fleet";
import { expectNothingLeft } from "../support/resources";

const fleetOf = (...identities: readonly (object | undefined)[]) =>
  ({ registrars: identities.map((identity) => ({ status: () => ({ identity }) })) }) as unknown as Fleet;

test("comes to its end and leaves nothing behind", () => expectNothingLeft(warmUp));

describe("is done", () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test.each([
    ["while the driver is waited for", fleetOf(undefined), 1],
    ["while any driver of a node is", fleetOf(), 1],
    ["not where a driver has answered", fleetOf(undefined, { name: "disk.csi.example.com" }), 0],
  ])("%s", (_, fleet, times) => {
    const warm = jest.fn(() => Promise.reject(new Error("no abstract sockets here")));
    warmUpWhileWaiting(fleet, warm);
    expect(warm).not.toHaveBeenCalled();
    jest.advanceTimersByTime(60_000);
    expect(warm).toHaveBeenCalledTimes(times);
  });
});
