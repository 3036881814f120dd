import { status } from "@grpc/grpc-js";
import { serveDiagnostics } from "../support/diagnostics";
import { registerOnce } from "../support/fake-kubelet";
import { createTestNode, startTestRegistrar, type TestNode } from "../support/registrar-node";
import { startScriptedDriver } from "../support/scripted-driver";

const name = "x.csi";
let node: TestNode;
beforeEach(async () => {
  node = await createTestNode();
});
afterEach(() => node[Symbol.asyncDispose]());

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABELS = `\\{${NAME}="(?:[^"\\\\\\n]|\\\\["\\\\n])*"(?:,${NAME}="(?:[^"\\\\\\n]|\\\\["\\\\n])*")*\\}`;
const SAMPLE = new RegExp(`^(?<name>${NAME})(?<labels>${LABELS})? (?<value>-?[0-9.e+-]+|\\+Inf|NaN)$`);

/** Reads Prometheus' text format, strictly: the samples by name and labels, each below its HELP and TYPE. */
function parseMetrics(text: string): ReadonlyMap<string, number> {
  const samples = new Map<string, number>();
  expect(text.endsWith("\n")).toBe(true);
  let family = "";
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const comment = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line);
    if (comment?.[1] === "HELP") family = comment[2] ?? "";
    else if (comment)
      expect([comment[2], comment[3]]).toEqual([
        family,
        expect.stringMatching(/^(counter|gauge|histogram)$/),
      ]);
    else {
      const groups = SAMPLE.exec(line)?.groups;
      if (!groups) throw new Error(`not a sample: ${line}`);
      expect(groups.name?.replace(/_(bucket|sum|count)$/, "")).toBe(family);
      const key = `${groups.name}${groups.labels ?? ""}`;
      expect(samples.has(key)).toBe(false);
      samples.set(key, Number(groups.value));
    }
  }
  return samples;
}

test("tell of the registration, the driver, kubelet and the process", async () => {
  await using _driver = await startScriptedDriver(node.csiAddress, { code: status.UNAVAILABLE }, { name });
  await using started = await startTestRegistrar(node, { onRegistrationFailure: "retry" });
  await using http = await serveDiagnostics(started);
  await started.state("listening");
  await registerOnce(node.socketPath(name), "no");
  await started.state("refused");
  await registerOnce(node.socketPath(name));
  await started.state("registered");

  const answer = await http.ask("/metrics");
  expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  const samples = parseMetrics(answer.body);

  const driver = `driver_name="${name}"`;
  const call = 'driver_name="unknown-driver",method_name="/csi.v1.Identity/GetPluginInfo"';
  expect(Object.fromEntries(samples)).toMatchObject({
    [`registrar_registered{${driver}}`]: 1,
    [`registrar_state{${driver},state="registered"}`]: 1,
    [`registrar_state{${driver},state="refused"}`]: 0,
    [`registrar_driver_connected{${driver}}`]: 1,
    [`registrar_driver_reconnects_total{${driver}}`]: 0,
    [`registrar_last_get_info_timestamp_seconds{${driver}}`]: expect.any(Number),
    [`registrar_last_notice_timestamp_seconds{${driver}}`]: expect.any(Number),
    [`registrar_get_info_calls_total{${driver}}`]: 2,
    [`registrar_notices_total{${driver},result="registered"}`]: 1,
    [`registrar_notices_total{${driver},result="refused"}`]: 1,
    [`registrar_publications_total{${driver},reason="driver-named"}`]: 1,
    [`registrar_takeovers_total{${driver}}`]: 0,
    [`registrar_driver_info{${driver},vendor_version="v1"}`]: 1,
    'registrar_build_info{version="v1.2.3",node_version="v20.0.0"}': 1,
    process_start_time_seconds: 1_000.5,
    process_cpu_seconds_total: 1.5,
    process_resident_memory_bytes: 4096,
    nodejs_heap_size_used_bytes: 1024,
    // Calls that were made before anybody scraped are counted too.
    [`csi_sidecar_operations_seconds_count{${call},grpc_status_code="Unavailable"}`]: 1,
    [`csi_sidecar_operations_seconds_count{${call},grpc_status_code="OK"}`]: 1,
  });
});

test("have csi-lib-utils' buckets", async () => {
  await using _driver = await startScriptedDriver(node.csiAddress, { name });
  await using started = await startTestRegistrar(node);
  await using http = await serveDiagnostics(started);
  await started.state("listening");
  const samples = parseMetrics((await http.ask("/metrics")).body);
  const buckets = [...samples.keys()].map((key) => /_seconds_bucket\{le="([^"]+)"/.exec(key)?.[1]);
  expect(buckets.filter((bucket) => bucket !== undefined)).toEqual([
    "0.1",
    "0.25",
    "0.5",
    "1",
    "2.5",
    "5",
    "10",
    "15",
    "25",
    "50",
    "120",
    "300",
    "600",
    "+Inf",
  ]);
});

test("name the driver in calls after the first, and count what comes between scrapes", async () => {
  await using first = await startScriptedDriver(node.csiAddress, { name });
  await using started = await startTestRegistrar(node);
  await using http = await serveDiagnostics(started);
  await started.state("listening");
  await http.ask("/metrics");
  await first.kill();
  await using _second = await startScriptedDriver(node.csiAddress, { name });
  await started.log.when("Connection restored");

  const samples = parseMetrics((await http.ask("/metrics")).body);
  const call = `driver_name="${name}",method_name="/csi.v1.Identity/GetPluginInfo",grpc_status_code="OK"`;
  expect(samples.get(`csi_sidecar_operations_seconds_count{${call}}`)).toBe(1);
  expect(samples.get(`registrar_driver_reconnects_total{driver_name="${name}"}`)).toBe(1);
});

test("are valid before there is a driver, and escape what it says of itself", async () => {
  await using started = await startTestRegistrar(node);
  await using http = await serveDiagnostics(started, { metricsPath: "/elsewhere" });
  const before = parseMetrics((await http.ask("/elsewhere")).body);
  expect(before.get('registrar_registered{driver_name="unknown-driver"}')).toBe(0);
  expect((await http.ask("/metrics")).status).toBe(404);
  const labels = 'driver_name="unknown-driver"';
  // From 0 on, so that the first increase is seen; a time that never was is absent.
  expect(before.get(`registrar_publications_total{${labels},reason="socket-gone"}`)).toBe(0);
  expect(before.has(`registrar_last_notice_timestamp_seconds{${labels}}`)).toBe(false);

  const vendorVersion = 'a"b\\c\nregistrar_registered 1';
  await using _driver = await startScriptedDriver(node.csiAddress, { name, vendorVersion });
  await started.state("listening");
  const samples = parseMetrics((await http.ask("/elsewhere")).body);
  expect(samples.has("registrar_registered")).toBe(false);
  expect(
    samples.get(
      `registrar_driver_info{driver_name="${name}",vendor_version="a\\"b\\\\c\\nregistrar_registered 1"}`,
    ),
  ).toBe(1);
});
