import { mkdirSync } from "node:fs";
import { status } from "@grpc/grpc-js";
import { type ListPodsResponse, protos } from "../../../../src/grpc/protos";
import { createSmallServer, startGrpcServer, unaryHandler } from "../../../../src/grpc/server";
import { silentLogger } from "../../../../src/logging/logger";
import { listenUntilCrash } from "../../../../src/simulator/driver/csi-driver";
import { reportOn } from "../../../../src/tools/doctor/node/report";
import { leaveDeadSocket } from "../../../support/foreign-socket";
import { createDoctorNode, type DoctorNode, problemsIn, WHOLE } from "./doctor-node";
import { healthyFacts, reporting, sayings } from "./healthy-facts";

type Pod = ListPodsResponse["pods"][number];

function pod(name: string, drivers: readonly (string | undefined)[], changes: Partial<Pod> = {}): Pod {
  const volumes = drivers.map((driver) => ({ volumeSource: { csi: driver ? { driver } : null } }));
  return {
    metadata: { name, namespace: "default", deletionTimestamp: null },
    spec: { volumes },
    status: statusOf("Pending", "False"),
    ...changes,
  };
}

const statusOf = (phase: string, isReady: string) => ({
  phase,
  conditions: [{ type: "PodReadyToStartContainers", status: isReady }],
});

async function servePods(node: DoctorNode, list: () => readonly Pod[]) {
  mkdirSync(node.at("pods-api"));
  const ListPods = unaryHandler<object, object>(async () => ({ pods: list() }));
  const pods = createSmallServer();
  pods.addService(protos.pods, { ListPods });
  const server = startGrpcServer({ log: silentLogger, newServer: () => pods });
  const socket = await listenUntilCrash(node.at("pods-api", "pods-api.sock"), (one) => server.accept(one));
  const close = async () => {
    await socket.withdraw();
    await server.close({ graceMs: 0 });
  };
  return { [Symbol.asyncDispose]: close };
}

const waiting = ({ drivers }: { readonly drivers: ReturnType<typeof reportOn>["drivers"] }) =>
  drivers.map(({ name, state, waitingPods }) => [name, state, waitingPods]);

test("pods that have not started, by the drivers of their inline volumes; claims do not name theirs", async () => {
  await using node = await createDoctorNode();
  await node.driverUnder("x.csi");
  const metadata = { name: "going", namespace: "default", deletionTimestamp: { seconds: 1 } };
  await using _api = await servePods(node, () => [
    pod("web", ["x.csi", undefined, "y.csi", "y.csi"]),
    pod("db", ["x.csi"]),
    pod("claims-only", [undefined]),
    pod("pulling-its-image", ["x.csi"], { status: statusOf("Pending", "True") }),
    pod("running", ["x.csi"], { status: statusOf("Running", "True") }),
    pod("going", ["x.csi"], { metadata }),
    pod("bare", [], { spec: null, status: null, metadata: null }),
  ]);
  const look = await node.look(WHOLE);
  expect(waiting(look)).toEqual([
    ["x.csi", "unpublished", ["default/web", "default/db"]],
    ["y.csi", "missing", ["default/web"]],
  ]);
  expect(look.says("waiting-pods").split("\n")).toEqual([
    expect.stringMatching(
      /^warning: x\.csi has 2 pods \(default\/web, default\/db\) .* is unpublished; fix: /,
    ),
    expect.stringMatching(/^problem: y\.csi has 1 pod \(default\/web\) .*, and no driver that .*; fix: /),
  ]);
  expect(problemsIn(look)).toContain("CSI023");
  // Beside a driver that was named, other drivers are worth a warning.
  expect((await node.look()).says("waiting-pods")).toMatch(/^warning: y\.csi has 1 pod .* waiting for it/m);
});

test("no pod waits: said once; without the API nothing is said", async () => {
  await using node = await createDoctorNode();
  await node.driverUnder("x.csi");
  const before = await node.look(WHOLE);
  expect(before.says("waiting-pods")).toBe("");
  expect(waiting(before)).toEqual([["x.csi", "unpublished", null]]);
  await using _api = await servePods(node, () => []);
  const look = await node.look(WHOLE);
  expect(waiting(look)).toEqual([["x.csi", "unpublished", []]]);
  expect(look.says("waiting-pods")).toMatch(/^ok: kubelet's Pods API lists no pod that waits/);
});

test("an API that fails is unknown, and so is one whose kubelet is down", async () => {
  await using node = await createDoctorNode();
  {
    await using _api = await servePods(node, () => {
      throw Object.assign(new Error("Kubelet is initializing"), { code: status.FAILED_PRECONDITION });
    });
    const { says, drivers } = await node.look(WHOLE);
    expect(says("waiting-pods")).toMatch(/^unknown: .* fails ListPods: FailedPrecondition: .*initializing$/);
    expect(drivers).toEqual([]);
  }
  await leaveDeadSocket(node.at("pods-api", "pods-api.sock"));
  expect((await node.look(WHOLE)).says("waiting-pods")).toMatch(/^unknown: .*Unavailable: ECONNREFUSED/);
});

test("the texts of an answer are bounded", async () => {
  await using node = await createDoctorNode();
  await using _api = await servePods(node, () => [pod("n".repeat(5_000), ["x.csi"])]);
  const [row] = (await node.look(WHOLE)).drivers;
  expect(row).toMatchObject({ name: "x.csi", state: "missing" });
  expect(row?.waitingPods?.[0]).toMatch(/^default\/n+ \[cut, 5000 characters in all\]$/);
});

const PODS = { kind: "answered" as const, value: [{ pod: "default/web", drivers: new Set(["x.csi"]) }] };

test.each([
  [reporting("registered"), /^ok: /, []],
  [
    reporting("listening"),
    /: x\.csi has 1 pod \(default\/web\) waiting for it, and is listening; /,
    ["default/web"],
  ],
  [{}, /^unknown: x\.csi may have 1 pod \(default\/web\) waiting for it: its/, ["default/web"]],
])("a pod names a driver whose registrar says %j", (registrations, expected, pods) => {
  const facts = healthyFacts({ facts: { ...registrations, pods: PODS } });
  expect(sayings("waiting-pods", facts)).toEqual([expect.stringMatching(expected)]);
  expect(reportOn(facts).drivers.map(({ waitingPods }) => waitingPods)).toEqual([pods]);
});

test("no driver is said to be missing where the registration directory may not be read", () => {
  const directory = { kind: "out-of-reach", path: "/registration", errno: "EACCES" } as const;
  const facts = healthyFacts({ facts: { directory, driver: undefined, registrations: [], pods: PODS } });
  expect(reportOn(facts).drivers).toEqual([]);
});
