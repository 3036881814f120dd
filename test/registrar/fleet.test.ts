import { fleetOf } from "../../src/registrar/fleet";
import { registerOnce } from "../support/fake-kubelet";
import { createTestNode, startTestRegistrar } from "../support/registrar-node";
import { startScriptedDriver } from "../support/scripted-driver";

const name = "x.csi";

test("a single registrar as a fleet: its events, its end, and nobody else", async () => {
  await using node = await createTestNode();
  await using _driver = await startScriptedDriver(node.csiAddress, { name });
  await using started = await startTestRegistrar(node);
  const fleet = fleetOf(started.registrar);
  const seen: string[] = [];
  const unsubscribe = fleet.subscribe((event, registrar) => {
    expect(registrar).toBe(started.registrar);
    seen.push(event.kind);
  });
  expect(fleet.kind).toBe("sidecar");
  expect(fleet.registrars).toEqual([started.registrar]);

  await started.state("listening");
  await registerOnce(node.socketPath(name));
  await started.state("registered");
  expect(seen).toEqual(expect.arrayContaining(["driver-answered", "published", "asked", "notified"]));

  unsubscribe();
  const before = seen.length;
  expect(await fleet.close()).toEqual({ kind: "stopped" });
  expect(seen).toHaveLength(before);
  expect(await fleet.closed).toEqual(await started.registrar.closed);
});

test("its refusal ends the fleet", async () => {
  await using node = await createTestNode();
  await using _driver = await startScriptedDriver(node.csiAddress, { name });
  await using started = await startTestRegistrar(node);
  const fleet = fleetOf(started.registrar);
  await started.state("listening");
  await registerOnce(node.socketPath(name), "not you");
  expect(await fleet.closed).toEqual({ kind: "refused", error: "not you" });
});
