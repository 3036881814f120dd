import { sequenceOf } from "../../../../src/cli/commands/demo/sequence";
import { called, kubelet, logged } from "./happenings";

test("rows stand in order of time, which counts from the start", () => {
  const rows = sequenceOf(
    [logged(1300, "Lost connection"), { kind: "deed", text: "The driver is killed.", atMs: 1200 }],
    1000,
  );
  expect(rows).toEqual([
    { kind: "deed", text: "The driver is killed.", atMs: 200 },
    { kind: "note", lane: "registrar", text: "loses the driver", mood: "bad", atMs: 300 },
  ]);
});

test("kubelet's calls go to the registrar that put the socket there last", () => {
  const published = "Registration Server started";
  const rows = sequenceOf(
    [
      logged(1, published),
      called(2, "GetInfo"),
      logged(3, published, {}, "second registrar"),
      called(4, "GetInfo"),
      called(5, "NodeGetInfo"),
    ],
    0,
  );
  expect(rows.map((row) => row.kind === "call" && row.to)).toEqual([
    "registrar",
    "second registrar",
    "driver",
  ]);
});

test("what the registrar asked of the driver is an arrow with the answer", () => {
  const response = '{"manifest":{},"name":"demo.csi","vendor_version":"1.0.0"}';
  const [answered, failed] = sequenceOf(
    [
      logged(1, "GRPC response", { response }),
      logged(2, "GRPC response", { response: "{}", err: "too busy" }),
    ],
    0,
  );
  expect(answered).toMatchObject({ from: "registrar", to: "driver", answer: "demo.csi", failed: false });
  expect(failed).toMatchObject({ answer: "too busy", failed: true });
});

test("a call that failed is drawn as failed, dialling not at all", () => {
  const rows = sequenceOf([called(1, "dial"), called(2, "GetInfo", "DeadlineExceeded")], 0);
  expect(rows).toMatchObject([{ name: "GetInfo", answer: "DeadlineExceeded", failed: true }]);
});

test("what kubelet writes is an arrow to the API objects", () => {
  const csiNode = {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    metadata: { name: "n", ownerReferences: [] },
    spec: { drivers: [{ name: "x.csi", nodeID: "n", topologyKeys: [] }] },
  } as const;
  expect(sequenceOf([kubelet({ kind: "csi-node-changed", csiNode, atMs: 1 })], 0)).toMatchObject([
    { kind: "call", from: "kubelet", to: "API objects", name: "CSINode", answer: "drivers: x.csi" },
  ]);
});
