import { warmUp, warmUpWhileWaiting } from "../../src/cli/warm-up";
import type { Registrations } from "../../src/registrar/registrations";
import { expectNothingLeft } from "../support/resources";

const only = (...identities: readonly (object | undefined)[]) =>
  ({
    all: identities.map((identity) => ({ status: () => ({ identity }) })),
  }) as unknown as Registrations;

test("comes to its end and leaves nothing behind", () => expectNothingLeft(warmUp));

describe("is done", () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test.each([
    ["while the driver is waited for", only(undefined), 1],
    ["while any driver of a node is", only(), 1],
    ["not where a driver has answered", only(undefined, { name: "disk.csi.example.com" }), 0],
  ])("%s", (_, fleet, times) => {
    const warm = jest.fn(() => Promise.reject(new Error("no abstract sockets here")));
    warmUpWhileWaiting(fleet, warm);
    expect(warm).not.toHaveBeenCalled();
    jest.advanceTimersByTime(60_000);
    expect(warm).toHaveBeenCalledTimes(times);
  });
});
