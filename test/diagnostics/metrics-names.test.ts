import { createMetricsRoute } from "../../src/diagnostics/metrics";
import type { Registration } from "../../src/registrar/registration/registration";
import type { Registrations, RegistrationsEvent } from "../../src/registrar/registrations";
import { PROCESS_FACTS } from "../support/diagnostics";

test("a driver that takes name after name cannot grow the metrics without end", async () => {
  let tell: (event: RegistrationsEvent) => void = () => {};
  const fleet = { scope: "one-driver", all: [], subscribe: (to: typeof tell) => (tell = to) };
  const route = createMetricsRoute(fleet as unknown as Registrations, PROCESS_FACTS);
  const call = { method: "/csi.v1.Identity/GetPluginInfo", code: 0, durationMs: 1 };
  for (let number = 0; number < 1_500; number++) {
    const status = () => ({ identity: { name: `disk-${number}` } });
    tell({ kind: "driver-call", call, registration: { status } as unknown as Registration });
  }
  const request = { method: "GET", path: "/metrics", query: new URLSearchParams(), accept: "", isLast: true };
  const { body } = await route(request, new AbortController().signal);
  const counts = String(body).match(/^csi_sidecar_operations_seconds_count\{.*/gm) ?? [];
  expect(counts).toHaveLength(1_001);
  const others = counts.find((line) => line.includes('driver_name="unknown-driver"'));
  expect(others).toMatch(/ 500$/);
});
