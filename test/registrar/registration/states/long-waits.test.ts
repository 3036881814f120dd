import { status } from "@grpc/grpc-js";
import { controlWaits } from "../../../support/controlled-waits";
import { registerOnce } from "../../../support/fake-kubelet";
import type { TestNode } from "../../../support/registrar-node";
import { startScriptedDriver } from "../../../support/scripted-driver";

const waits = controlWaits();
const loading = import("../../../support/registrar-node");

const name = "x.csi";
let node: TestNode;
beforeEach(async () => {
  node = await (await loading).createTestNode();
});
afterEach(() => node[Symbol.asyncDispose]());

test("a peer that is not to be found is looked for again after half a minute, by publishing our socket", async () => {
  const { startTestRegistrar } = await loading;
  await using _driver = await startScriptedDriver(node.csiAddress, { name });
  await using started = await startTestRegistrar(node, { onRegistrationFailure: "retry" });
  await started.state("listening");
  await registerOnce(
    node.socketPath(name),
    "Another driver with the same name is already registered with a higher supported version",
  );
  await started.log.when(
    "Kubelet knows the driver by another socket, which is not to be found: trying again later",
  );
  expect(started.registrar.status().state).toBe("standby");

  await waits.end(30_000);

  await started.state("listening");
  await registerOnce(node.socketPath(name));
  await started.state("registered");
});

test("a driver that lets nobody in is asked again after half a minute", async () => {
  const { startTestRegistrar } = await loading;
  await using _driver = await startScriptedDriver(
    node.csiAddress,
    { code: status.PERMISSION_DENIED },
    { name },
  );
  await using started = await startTestRegistrar(node);
  await started.log.when("Error retreiving CSI driver name");

  await waits.end(30_000);

  await started.state("listening");
});
