import { Session } from "node:inspector/promises";
import { PassThrough } from "node:stream";
import timers from "node:timers/promises";
import v8 from "node:v8";
import { createProfilingRoutes } from "../../src/diagnostics/pprof";
import { serveRegistrar } from "./support";

test("profiles are served only with the flag, with an index, and odd seconds are refused", async () => {
  await using without = await serveRegistrar();
  for (const name of ["", "profile", "heap", "cmdline"])
    expect((await without.ask(`/debug/pprof/${name}`)).status).toBe(404);
  await using http = await serveRegistrar({ http: { profiledCommandLine: ["registrar", "--v=5"] } });
  const body = expect.stringContaining("/debug/pprof/profile");
  expect(await http.ask("/debug/pprof/")).toMatchObject({ status: 200, body });
  expect((await http.ask("/debug/pprof/cmdline")).body).toBe("registrar\0--v=5");
  for (const seconds of ["0", "-1", "301", "soon", ""])
    expect((await http.ask(`/debug/pprof/profile?seconds=${seconds}`)).status).toBe(400);
});

/** Profiles without a server. */
function startProfiling() {
  const routes = createProfilingRoutes(["registrar"]);
  const { signal } = new AbortController();
  const ask = async (name: string, query = "") => {
    const request = { method: "GET", path: "", query: new URLSearchParams(query), accept: "", isLast: true };
    return await routes.get(`/debug/pprof/${name}`)?.(request, signal);
  };
  return { ask, signal };
}

test("one profile is taken at a time, and leaves nothing behind", async () => {
  const disconnect = jest.spyOn(Session.prototype, "disconnect");
  const { ask, signal } = startProfiling();
  const profiling = ask("profile", "seconds=0.01");
  for (const name of ["profile", "heap"]) expect(await ask(name)).toMatchObject({ status: 409 });
  const headers = { "content-disposition": 'attachment; filename="cpu.cpuprofile"' };
  expect(await profiling).toMatchObject({ status: 200, headers, body: expect.stringContaining('"nodes":') });
  expect(disconnect).toHaveBeenCalledTimes(1);
  const delay = jest.spyOn(timers, "setTimeout").mockResolvedValue(undefined);
  expect(await ask("profile")).toMatchObject({ status: 200 });
  expect(delay).toHaveBeenCalledWith(30_000, undefined, { signal });
});

test("after a heap snapshot whose client left the next profile is taken", async () => {
  const snapshot = new PassThrough();
  jest.spyOn(v8, "getHeapSnapshot").mockReturnValue(snapshot);
  const { ask } = startProfiling();
  const headers = { "content-disposition": 'attachment; filename="heap.heapsnapshot"' };
  expect(await ask("heap")).toMatchObject({ status: 200, headers, body: snapshot });
  expect(await ask("heap")).toMatchObject({ status: 409 });
  snapshot.destroy();
  await new Promise(setImmediate);
  expect(await ask("profile", "seconds=0.01")).toMatchObject({ status: 200 });
});
