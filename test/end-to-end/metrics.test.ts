import { unlinkSync } from "node:fs";
import { httpOf } from "./support/http";
import { DRIVER, nodeTest, registered } from "./support/node";
import type { CliProcess } from "./support/process";
import { parsePrometheusText, type Scrape } from "./support/prometheus-text";

const ENDPOINT = "--http-endpoint=localhost:0";
const driver_name = DRIVER;

async function scrape(registrar: CliProcess, path = "/metrics"): Promise<Scrape> {
  const { status, headers, body } = await (await httpOf(registrar)).get(path);
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  return parsePrometheusText(body);
}

/** The one state that is 1. */
function stateIn(metrics: Scrape): string | undefined {
  const [one, ...others] = metrics.samples("registrar_state").filter(({ value }) => value === 1);
  return others.length === 0 ? one?.labels.state : undefined;
}

nodeTest("the values follow the registration from one state to the next", async (node) => {
  const driver = await node.driver({ vendorVersion: '1.0 "beta"\\' });
  const registrar = node.registrar(ENDPOINT);
  await registrar.reached("listening");
  const listening = await scrape(registrar);
  expect(stateIn(listening)).toBe("listening");
  expect(listening.value("registrar_registered", { driver_name })).toBe(0);
  expect(listening.value("registrar_driver_info", { driver_name, vendor_version: '1.0 "beta"\\' })).toBe(1);

  const kubelet = await node.kubelet();
  await registrar.reached("registered");
  const done = await scrape(registrar);
  expect(stateIn(done)).toBe("registered");
  expect(done.value("registrar_registered", { driver_name })).toBe(1);
  expect(done.value("registrar_get_info_calls_total", { driver_name })).toBe(1);
  expect(done.value("registrar_notices_total", { driver_name, result: "registered" })).toBe(1);
  expect(done.value("registrar_notices_total", { driver_name, result: "refused" })).toBe(0);
  expect(done.value("registrar_publications_total", { driver_name, reason: "driver-named" })).toBe(1);
  for (const call of ["get_info", "notice"]) {
    const at = done.value(`registrar_last_${call}_timestamp_seconds`, { driver_name }) ?? 0;
    expect(Math.abs(Date.now() / 1000 - at)).toBeLessThan(60);
  }

  unlinkSync(node.socketPath);
  await registered(kubelet, { nth: 2 });
  await registrar.reached("registered", 2);
  await driver.kill();
  await registrar.line("Lost connection");
  const healed = await scrape(registrar);
  expect(healed.value("registrar_publications_total", { driver_name, reason: "socket-gone" })).toBe(1);
  expect(healed.value("registrar_notices_total", { driver_name, result: "registered" })).toBe(2);
  expect(healed.value("registrar_driver_connected", { driver_name })).toBe(0);
  expect(healed.value("registrar_registered", { driver_name })).toBe(1);

  await node.driver();
  await registrar.line("Connection restored");
  const restored = await scrape(registrar);
  expect(restored.value("registrar_driver_connected", { driver_name })).toBe(1);
  expect(restored.value("registrar_driver_reconnects_total", { driver_name })).toBe(1);
});

nodeTest("the process and the build are described", async (node) => {
  const registrar = node.registrar(ENDPOINT);
  const metrics = await scrape(registrar);
  const startedAt = metrics.value("process_start_time_seconds") ?? 0;
  expect(Math.abs(Date.now() / 1000 - startedAt)).toBeLessThan(60);
  expect(metrics.value("process_cpu_seconds_total")).toBeGreaterThan(0);
  expect(metrics.value("process_resident_memory_bytes")).toBeGreaterThan(2 ** 24);
  const { version } = (await registrar.line("Version")).fields;
  expect(metrics.samples("registrar_build_info").map(({ labels }) => labels.version)).toEqual([version]);
  for (const [name, type] of metrics.types)
    expect([name, type === "counter"]).toEqual([name, name.endsWith("_total")]);
});

nodeTest("--metrics-path moves them", async (node) => {
  const registrar = node.registrar(ENDPOINT, "--metrics-path=/numbers");
  expect(stateIn(await scrape(registrar, "/numbers"))).toBe("waiting");
  expect((await (await httpOf(registrar)).get("/metrics")).status).toBe(404);
});
