import { readFileSync } from "node:fs";
import { request } from "node:http";
import { freePort } from "../../bench/support/place";
import { eventually } from "../support/eventually";
import { httpOf } from "./support/http";
import { nodeTest } from "./support/node";
import type { CliProcess } from "./support/process";

/** proc(5) rounds the time in user mode down to these, and that in the kernel. */
const TICKS_A_SECOND = 100;

function cpuSecondsOf({ pid }: CliProcess): number {
  const [, after = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = after.split(" ").slice(11);
  return (Number(user) + Number(system)) / TICKS_A_SECOND;
}

// What each route answers in each state is in test/diagnostics.

nodeTest(
  "--health-port serves on all interfaces, also metrics of the process and the build",
  async (node) => {
    const registrar = node.registrar(`--health-port=${await freePort()}`, "--metrics-path=/numbers");
    const http = await httpOf(registrar);
    expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" });
    expect((await registrar.line("Flag is deprecated")).fields.flag).toBe("--health-port");
    for (let nth = 0; nth < 30; nth += 1) await http.get("/numbers"); // Each spends time in the kernel, too.
    const before = cpuSecondsOf(registrar);
    // --metrics-path moves all of them.
    const { status, headers, body } = await http.get("/numbers");
    expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    const sampleOf = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(body)?.[1]);
    expect(Math.abs(Date.now() / 1000 - sampleOf("process_start_time_seconds"))).toBeLessThan(60);
    const cpuSeconds = sampleOf("process_cpu_seconds_total");
    expect(cpuSeconds).toBeGreaterThanOrEqual(before);
    expect(cpuSeconds).toBeLessThan(cpuSecondsOf(registrar) + 2 / TICKS_A_SECOND);
    expect(sampleOf("process_resident_memory_bytes")).toBeGreaterThan(2 ** 24);
    expect(registrar.lines("Starting profiling")).toEqual([]);
    const { version } = (await registrar.line("Version")).fields;
    expect(body).toMatch(new RegExp(`^registrar_build_info\\{.*version="${version}"`, "m"));
    expect((await http.get("/metrics")).status).toBe(404);
  },
);

nodeTest("--enable-pprof serves profiles, and the command line", async (node) => {
  const registrar = node.registrar("--http-endpoint=localhost:0", "--enable-pprof");
  const http = await httpOf(registrar);
  for (const message of ["Starting HTTP server", "Starting profiling"])
    expect(registrar.lines(message).map(({ fields }) => fields)).toEqual([{ endpoint: "localhost:0" }]);
  const client = request(`http://127.0.0.1:${http.port}/debug/pprof/profile?seconds=300`);
  client.on("error", () => {}).end();
  const short = () => http.get("/debug/pprof/profile?seconds=0.01");
  await eventually(async () => expect((await short()).status).toBe(409));
  client.destroy(); // A profile ends with its client.
  await eventually(async () => expect((await short()).status).toBe(200));
  const { headers, body } = await http.get("/debug/pprof/profile?seconds=0.2");
  expect(headers["content-disposition"]).toBe('attachment; filename="cpu.cpuprofile"');
  expect(Object.keys(JSON.parse(body))).toEqual(expect.arrayContaining(["nodes", "samples"]));
  const heap = JSON.parse((await http.get("/debug/pprof/heap")).body);
  expect(heap.nodes).toHaveLength(heap.snapshot.node_count * heap.snapshot.meta.node_fields.length);
  expect((await http.get("/debug/pprof/cmdline")).body.split("\0")).toContain("--enable-pprof");
  expect(registrar.lines().filter(({ severity }) => severity !== "I")).toEqual([]);
});
