import { keyOfPlace } from "../../../../src/tools/doctor/cluster/read/mentions";
import { driverNamed } from "../../../../src/tools/doctor/cluster/read/units";

test("each pod without a node is a place of its own", () => {
  const keyOf = (name: string) =>
    keyOfPlace({ driver: driverNamed("x.csi"), node: undefined, pod: { name } as never });
  expect(keyOf("a")).not.toBe(keyOf("b"));
});
