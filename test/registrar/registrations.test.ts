import { only } from "../../src/registrar/registrations";
import { createTestNode, startTestRegistrar } from "../support/registrar-node";
import { startScriptedDriver } from "../support/scripted-driver";

const name = "x.csi";

test("one registration, to look at as one of one: its events, and nobody else's", async () => {
  await using node = await createTestNode();
  await using _driver = await startScriptedDriver(node.csiAddress, { name });
  await using started = await startTestRegistrar(node);
  const registrations = only(started.registrar);
  const seen: string[] = [];
  const unsubscribe = registrations.subscribe((event) => {
    const { registration } = event;
    expect(registration).toBe(started.registrar);
    seen.push(event.kind);
  });
  expect(registrations.scope).toBe("one-driver");
  expect(registrations.all).toEqual([started.registrar]);

  await started.state("listening");
  await started.accept();
  expect(seen).toEqual(expect.arrayContaining(["driver-answered", "published", "asked", "notified"]));

  unsubscribe();
  const before = seen.length;
  expect(await started.registrar.close()).toEqual({ kind: "stopped" });
  expect(seen).toHaveLength(before);
});
