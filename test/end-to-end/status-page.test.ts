import { httpOf } from "./support/http";
import { DRIVER, nodeTest } from "./support/node";

const ENDPOINT = "--http-endpoint=localhost:0";

nodeTest("/statusz tells programs and people what is going on", async (node) => {
  await node.driver();
  await node.kubelet();
  const registrar = node.registrar(ENDPOINT);
  await registrar.reached("registered");
  const http = await httpOf(registrar);
  const { headers, body } = await http.get("/statusz", { headers: { accept: "application/json" } });
  expect(headers["content-type"]).toBe("application/json");
  expect((await http.get("/statusz")).body).toContain(`name: ${DRIVER}\n`);
  expect(JSON.parse(body)).toMatchObject({
    version: (await registrar.line("Version")).fields.version,
    nodeVersion: process.version,
    drivers: [
      {
        name: DRIVER,
        state: "registered",
        counters: { getInfoCalls: 1, accepted: 1, publications: { "driver-named": 1 } },
        history: [
          { from: "waiting", to: "publishing", event: { kind: "driver-named", driverName: DRIVER } },
          { from: "publishing", to: "listening" },
          { from: "listening", to: "asked" },
          { from: "asked", to: "registered" },
        ],
      },
    ],
  });
});

nodeTest("--enable-pprof serves profiles that V8's tools read", async (node) => {
  const registrar = node.registrar(ENDPOINT, "--enable-pprof");
  const http = await httpOf(registrar);
  const { headers, body } = await http.get("/debug/pprof/profile?seconds=0.2");
  expect(headers["content-disposition"]).toBe('attachment; filename="cpu.cpuprofile"');
  const profile = JSON.parse(body);
  expect(Object.keys(profile)).toEqual(expect.arrayContaining(["nodes", "startTime", "endTime", "samples"]));
  const heap = JSON.parse((await http.get("/debug/pprof/heap")).body);
  expect(heap.snapshot.node_count).toBeGreaterThan(1_000);
  expect(heap.nodes).toHaveLength(heap.snapshot.node_count * heap.snapshot.meta.node_fields.length);
  expect((await http.get("/debug/pprof/")).body).toContain("/debug/pprof/profile");
  expect((await http.get("/debug/pprof/cmdline")).body.split("\0")).toContain("--enable-pprof");
  expect((await http.get("/debug/pprof/profile?seconds=0")).status).toBe(400);
  expect(registrar.lines().filter(({ severity }) => severity !== "I")).toEqual([]);
});

nodeTest("one CPU profile at a time, and the next when it is done", async (node) => {
  const http = await httpOf(node.registrar(ENDPOINT, "--enable-pprof"));
  const two = await Promise.all([1, 2].map(() => http.get("/debug/pprof/profile?seconds=1")));
  expect(two.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await http.get("/debug/pprof/profile?seconds=0.01")).status).toBe(200);
});
