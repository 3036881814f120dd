import { readFileSync } from "node:fs";
import * as client from "prom-client";
import { addMetrics } from "../../src/diagnostics/add-metrics";
import { startNodeRegistrar } from "../../src/registrar/start-node-registrar";
import { eachTest } from "../support/each-test";
import { createTestNode, DRIVER, startListening } from "../support/registrar-node";
import { startScriptedDriver } from "../support/scripted-driver";

const node = eachTest(createTestNode);

const wanted = ["alerts.yaml", "dashboard.json"].flatMap(
  (name) =>
    readFileSync(`examples/${name}`, "utf8").match(/\b(?:registrar|process|csi_sidecar)_[a-z_]+/g) ?? [],
);

test("the caller's registry, with prom-client's own metrics, has every metric of the alerts and the dashboard", async () => {
  await using started = await startListening(node);
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  addMetrics(started.registrar, client, registry);
  await started.accept();
  await started.driver.stop();
  await using _successor = await startScriptedDriver(node.csiAddress, { name: DRIVER });
  await new Promise((resolve) => started.registrar.subscribe("driver-answered", resolve));
  const text = await registry.metrics();
  expect(text).toContain(`registrar_registered{driver_name="${DRIVER}"} 1`);
  expect(text).toContain(`csi_sidecar_operations_seconds_count{driver_name="${DRIVER}",`);
  // Node readiness is another package entry.
  const others = new Set(
    wanted.filter((name) => !text.includes(`# TYPE ${name.replace(/_(?:bucket|count|sum)$/, "")} `)),
  );
  expect([...others]).toEqual(["registrar_startup_taint_overdue"]);
});

test("addMetrics uses prom-client's default registry, and takes a node's registrations", async () => {
  await using registrar = await startNodeRegistrar({
    csiAddresses: [node.at("*", "csi.sock")],
    endpoints: [node.at("*", "csi.sock")],
    pluginRegistrationPath: node.pluginRegistrationPath,
  });
  addMetrics(registrar, client);
  expect(() => addMetrics(registrar, client)).toThrow("already been registered");
  expect(await client.register.metrics()).toContain('registrar_build_info{version="library",node_version="v');
  client.register.clear();
});
