import { status } from "@grpc/grpc-js";
import { METRICS } from "../../src/diagnostics/metric-table";
import { createMetricsRoute } from "../../src/diagnostics/metrics";
import { silentLogger } from "../../src/logging/logger";
import type { Registration } from "../../src/registrar/registration/registration";
import type { NodeRegistrarEvent, Registrations } from "../../src/registrar/registration/registrations";
import { registerOnce } from "../support/dial-registration";
import { recordLog } from "../support/recorded-log";
import { DRIVER } from "../support/registrar-node";
import { PROCESS_FACTS, serveRegistrar } from "./support";

const driver = [{ name: DRIVER }];

const samplesIn = (text: string): ReadonlyMap<string, number> =>
  new Map(Array.from(text.matchAll(/^([^#].*) (\S+)$/gm), ([, key = "", value]) => [key, Number(value)]));

test("the metrics cover the registration, the driver, kubelet and the process", async () => {
  await using served = await serveRegistrar({
    driver: [{ code: status.UNAVAILABLE }, ...driver],
    registrar: { onRegistrationFailure: "retry" },
  });
  await served.register();
  const name = `driver_name="${DRIVER}"`;
  const before = samplesIn((await served.ask("/metrics")).body);
  expect(before.get(`registrar_registered{${name}}`)).toBe(1);
  await registerOnce(served.socketPath, "no");
  await served.state("refused");

  const answer = await served.ask("/metrics");
  expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  const samples = samplesIn(answer.body);

  const call = 'driver_name="unknown-driver",method_name="/csi.v1.Identity/GetPluginInfo"';
  expect(Object.fromEntries(samples)).toMatchObject({
    [`registrar_registered{${name}}`]: 0,
    [`registrar_state{${name},state="registered"}`]: 0,
    [`registrar_state{${name},state="refused"}`]: 1,
    [`registrar_driver_connected{${name}}`]: 1,
    [`registrar_driver_reconnects_total{${name}}`]: 0,
    [`registrar_last_get_info_timestamp_seconds{${name}}`]: expect.any(Number),
    [`registrar_last_notice_timestamp_seconds{${name}}`]: expect.any(Number),
    [`registrar_get_info_calls_total{${name}}`]: 2,
    [`registrar_notices_total{${name},result="registered"}`]: 1,
    [`registrar_notices_total{${name},result="refused"}`]: 1,
    [`registrar_publications_total{${name},reason="driver-named"}`]: 1,
    [`registrar_takeovers_total{${name}}`]: 0,
    [`registrar_driver_info{${name},vendor_version="v1"}`]: 1,
    // Calls that were made before anybody scraped are counted too.
    [`csi_sidecar_operations_seconds_count{${call},grpc_status_code="Unavailable"}`]: 1,
    [`csi_sidecar_operations_seconds_count{${call},grpc_status_code="OK"}`]: 1,
  });
});

test("calls after the first have the driver's name, and calls between scrapes are counted", async () => {
  const startedAt = performance.now();
  await using served = await serveRegistrar();
  const first = await served.startDriver(...driver);
  await served.state("listening");
  await served.ask("/metrics");
  await first.kill();
  await served.startDriver(...driver);
  await served.log.when("Connection restored");

  const samples = samplesIn((await served.ask("/metrics")).body);
  const call = `driver_name="${DRIVER}",method_name="/csi.v1.Identity/GetPluginInfo",grpc_status_code="OK"`;
  expect(samples.get(`csi_sidecar_operations_seconds_count{${call}}`)).toBe(1);
  const seconds = samples.get(`csi_sidecar_operations_seconds_sum{${call}}`);
  expect(seconds).toBeLessThan((performance.now() - startedAt) / 1000);
  expect(samples.get(`registrar_driver_reconnects_total{driver_name="${DRIVER}"}`)).toBe(1);
});

test("the metrics are valid before a driver answers, and escape its name and version", async () => {
  await using served = await serveRegistrar({ http: { metricsPath: "/elsewhere" } });
  const before = samplesIn((await served.ask("/elsewhere")).body);
  expect(before.get('registrar_registered{driver_name="unknown-driver"}')).toBe(0);
  expect((await served.ask("/metrics")).status).toBe(404);
  const labels = 'driver_name="unknown-driver"';
  // From 0 on, so that the first increase is seen; a time that never was is absent.
  expect(before.get(`registrar_publications_total{${labels},reason="socket-gone"}`)).toBe(0);
  expect(before.has(`registrar_last_notice_timestamp_seconds{${labels}}`)).toBe(false);

  const vendorVersion = 'a"b\\c\nregistrar_registered 1';
  await served.startDriver({ name: DRIVER, vendorVersion });
  await served.state("listening");
  const samples = samplesIn((await served.ask("/elsewhere")).body);
  expect(samples.has("registrar_registered")).toBe(false);
  const escaped = 'a\\"b\\\\c\\nregistrar_registered 1';
  expect(samples.get(`registrar_driver_info{driver_name="${DRIVER}",vendor_version="${escaped}"}`)).toBe(1);
});

/** The route of a fleet whose driver calls a test makes up, and a scrape of it. */
function createRoute(
  scope: Registrations["scope"] = "one-driver",
  all: readonly unknown[] = [],
  log = silentLogger,
) {
  let tell: (event: NodeRegistrarEvent) => void = () => {};
  const fleet = { scope, all, subscribe: (to: typeof tell) => (tell = to) };
  const route = createMetricsRoute(fleet as unknown as Registrations, PROCESS_FACTS, log);
  const request = { method: "GET", path: "/metrics", query: new URLSearchParams(), accept: "", isLast: true };
  return {
    call: (name: string) => {
      const call = { method: "/csi.v1.Identity/GetPluginInfo", code: 0, durationMs: 1 };
      const status = () => ({ identity: { name } });
      tell({ kind: "driver-call", call, registration: { status } as unknown as Registration });
    },
    scrape: async () => {
      const { body } = await route(request, new AbortController().signal);
      return String(body).match(/^csi_sidecar_operations_seconds_count\{.*/gm) ?? [];
    },
  };
}

test("a driver that takes name after name cannot grow the metrics without end", async () => {
  const { call, scrape } = createRoute();
  for (let number = 0; number < 1_500; number++) call(`disk-${number}`);
  const counts = await scrape();
  expect(counts).toHaveLength(1_001);
  const others = counts.find((line) => line.includes('driver_name="unknown-driver"'));
  expect(others).toMatch(/ 500$/);
});

test("a driver's trouble has a sample by its reason, unless the flags deny it", () => {
  const troubled = (kind: string) => ({ csiAddress: `/${kind}`, status: () => ({ trouble: { kind } }) });
  const all = { all: ["no-answer", "not-wanted"].map(troubled) } as unknown as Registrations;
  const row = METRICS.find(({ name }) => name === "registrar_driver_trouble");
  expect(row?.samples(PROCESS_FACTS, all)).toEqual([[1, "/no-answer", "no-answer"]]);
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  "a fact of the process that is not known, %d, has no sample",
  (heapBytes) => {
    const usage = () => ({ cpuSeconds: 1, residentBytes: 1, heapBytes });
    const row = METRICS.find(({ name }) => name === "nodejs_heap_size_used_bytes");
    expect(row?.samples({ ...PROCESS_FACTS, usage }, {} as Registrations)).toEqual([[undefined]]);
  },
);

const stand = (name: string) => ({ status: () => ({ identity: { name }, state: "standby" }) });

test("a node's driver that is gone leaves the metrics", async () => {
  const all = ["here", "gone"].map(stand);
  const { call, scrape } = createRoute("node-wide", all);
  for (const name of ["gone", "here", "unknown-driver"]) call(name); // The last one: of a driver that has no name yet.
  expect(await scrape()).toHaveLength(3);
  const [gone] = all.splice(1);
  const left = ["here", "unknown-driver"].map((name) => expect.stringContaining(`driver_name="${name}"`));
  expect(await scrape()).toEqual(left);
  all.push(...[gone].flatMap((one) => one ?? []));
  call("gone");
  expect((await scrape()).find((line) => line.includes('"gone"'))).toMatch(/ 1$/);
});

test("the metrics name a node's driver, however many came and went before it", async () => {
  const { call, scrape } = createRoute("node-wide", [stand("here")]);
  for (let number = 0; number < 1_000; number++) call(`gone-${number}`);
  await scrape();
  call("here");
  expect(await scrape()).toEqual([expect.stringContaining('driver_name="here"')]);
});

describe("a scrape succeeds once prom-client can be loaded", () => {
  const load = jest.fn<object, []>();
  beforeEach(() => {
    jest.resetModules();
    jest.doMock("prom-client", load);
    load.mockReset().mockImplementation(() => jest.requireActual("prom-client"));
    load.mockImplementationOnce(() => {
      throw new Error("EMFILE: too many open files");
    });
  });
  afterEach(() => void jest.dontMock("prom-client"));

  test("after a failed scrape the next one has all calls", async () => {
    const { call, scrape } = createRoute();
    call(DRIVER);
    await expect(scrape()).rejects.toThrow("EMFILE");
    call(DRIVER);
    expect(await scrape()).toEqual([expect.stringMatching(/ 2$/)]);
  });

  test("calls are dropped after 500 without a scrape, and counted again from the next one", async () => {
    const { records, logger } = recordLog();
    const { call, scrape } = createRoute("one-driver", [], logger);
    for (let number = 0; number < 500; number++) call(DRIVER);
    await new Promise(setImmediate);
    const message = "Cannot load the metrics, calls are not counted";
    const fields = { err: "EMFILE: too many open files", calls: 500 };
    expect(records).toMatchObject([{ severity: "warning", message, fields }]);
    for (let number = 0; number < 500; number++) call(DRIVER);
    expect(await scrape()).toEqual([expect.stringMatching(/ 500$/)]);
    call(DRIVER);
    expect(await scrape()).toEqual([expect.stringMatching(/ 501$/)]);
  });
});
