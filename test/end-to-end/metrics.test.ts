import { unlinkSync } from "node:fs";
import { httpOf } from "./support/http";
import { DRIVER, nodeTest, registered } from "./support/node";
import type { CliProcess } from "./support/process";

const ENDPOINT = "--http-endpoint=localhost:0";

/** Every sample by its name and labels, `registrar_` left out, as the first driver's. test/diagnostics reads the format. */
async function scrape(registrar: CliProcess, path = "/metrics"): Promise<Readonly<Record<string, number>>> {
  const { status, headers, body } = await (await httpOf(registrar)).get(path);
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  const lines = body.matchAll(/^(?:registrar_)?([^#\n].*) (\S+)$/gm);
  const own = new RegExp(`driver_name="${DRIVER}",?`);
  return Object.fromEntries(
    Array.from(lines, ([, name = "", value]) => [name.replace(own, ""), Number(value)]),
  );
}

nodeTest("the values follow the registration from one state to the next", async (node) => {
  const driver = await node.driver({ vendorVersion: '1.0 "beta"\\' });
  const registrar = node.registrar(ENDPOINT);
  await registrar.reached("listening");
  expect(await scrape(registrar)).toMatchObject({
    ...{ 'state{state="listening"}': 1, 'state{state="registered"}': 0, "registered{}": 0 },
    'driver_info{vendor_version="1.0 \\"beta\\"\\\\"}': 1,
  });

  const kubelet = await node.kubelet();
  await registrar.reached("registered");
  const done = await scrape(registrar);
  expect(done).toMatchObject({
    ...{ 'state{state="listening"}': 0, 'state{state="registered"}': 1, "registered{}": 1 },
    ...{ 'notices_total{result="registered"}': 1, 'notices_total{result="refused"}': 0 },
    ...{ "get_info_calls_total{}": 1, 'publications_total{reason="driver-named"}': 1 },
  });
  for (const call of ["get_info", "notice"])
    expect(Math.abs(Date.now() / 1000 - (done[`last_${call}_timestamp_seconds{}`] ?? 0))).toBeLessThan(60);

  unlinkSync(node.socketPath);
  await registered(kubelet, { nth: 2 });
  await registrar.reached("registered", 2);
  await driver.kill();
  await registrar.line("Lost connection");
  expect(await scrape(registrar)).toMatchObject({
    ...{ 'publications_total{reason="socket-gone"}': 1, 'notices_total{result="registered"}': 2 },
    ...{ "driver_connected{}": 0, "registered{}": 1 },
  });

  await node.driver();
  await registrar.line("Connection restored");
  expect(await scrape(registrar)).toMatchObject({ "driver_connected{}": 1, "driver_reconnects_total{}": 1 });
});

nodeTest("the process and the build are described; --metrics-path moves all of it", async (node) => {
  const registrar = node.registrar(ENDPOINT, "--metrics-path=/numbers");
  const metrics = await scrape(registrar, "/numbers");
  expect(Math.abs(Date.now() / 1000 - (metrics.process_start_time_seconds ?? 0))).toBeLessThan(60);
  expect(metrics.process_cpu_seconds_total).toBeGreaterThan(0);
  expect(metrics.process_resident_memory_bytes).toBeGreaterThan(2 ** 24);
  const { version } = (await registrar.line("Version")).fields;
  const builds = Object.keys(metrics).filter((name) => name.startsWith("build_info"));
  expect(builds).toEqual([expect.stringContaining(`version="${version}"`)]);
  expect((await (await httpOf(registrar)).get("/metrics")).status).toBe(404);
});
