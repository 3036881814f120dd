import { createCounters, type RegistrationCounters } from "../../../src/registrar/model/counters";
import type { RegistrationEvent } from "../../../src/registrar/model/events";

const identity = { name: "x.csi", vendorVersion: "v1", manifest: {} };
const published = (reason: "driver-named" | "peer-gone" | "socket-gone"): RegistrationEvent => ({
  kind: "published",
  socketPath: "/x",
  reason,
});

test.each<[string, readonly RegistrationEvent[], Partial<RegistrationCounters>]>([
  ["GetInfo", [{ kind: "get-info" }, { kind: "get-info" }], { getInfoCalls: 2, lastGetInfoAtMs: 7 }],
  [
    "a success",
    [{ kind: "registration-status", registered: true, error: "" }],
    { accepted: 1, lastStatusAtMs: 7 },
  ],
  [
    "a refusal",
    [{ kind: "registration-status", registered: false, error: "no" }],
    { refused: 1, kubeletError: "no", lastStatusAtMs: 7 },
  ],
  [
    "publications by reason",
    [published("driver-named"), published("socket-gone"), published("socket-gone")],
    { publications: { "driver-named": 1, "socket-gone": 2 } },
  ],
  ["a takeover", [published("peer-gone")], { publications: { "peer-gone": 1 }, takeovers: 1 }],
  [
    "a driver that came back, not one that came, or ended a connection",
    [
      { kind: "driver-answered", identity, awayMs: undefined },
      { kind: "driver-answered", identity, awayMs: undefined },
      { kind: "driver-lost" },
      { kind: "driver-answered", identity, awayMs: 5 },
      { kind: "driver-answered", identity, awayMs: 5 },
    ],
    { driverReconnects: 2 },
  ],
  [
    "what happens under the driver's present name",
    [
      { kind: "driver-answered", identity, awayMs: undefined },
      published("driver-named"),
      { kind: "get-info" },
      { kind: "registration-status", registered: false, error: "no" },
      { kind: "driver-answered", identity: { ...identity, name: "y.csi" }, awayMs: 5 },
      { kind: "get-info" },
    ],
    { getInfoCalls: 1, lastGetInfoAtMs: 7 },
  ],
])("counts %s", (_what, events, expected) => {
  const counters = createCounters(() => 7);
  const nothing = counters.current;
  for (const event of events) counters.count(event);
  expect(counters.current).toEqual({ ...nothing, ...expected });
});
