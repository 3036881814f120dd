import { nameEvent } from "../../../src/registrar/driver/driver";

test.each([
  [undefined, false, { kind: "driver-named", driverName: "y.csi" }],
  [undefined, true, { kind: "driver-named", driverName: "y.csi" }],
  ["x.csi", false, { kind: "driver-renamed", driverName: "y.csi" }],
  ["x.csi", true, { kind: "stop", outcome: { kind: "stopped" } }],
] as const)("a name after %s, node-wide %s", (registeredAs, isNodeWide, expected) => {
  expect(nameEvent(registeredAs, "y.csi", isNodeWide)).toEqual(expected);
});
