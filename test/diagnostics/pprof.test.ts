import { Session } from "node:inspector/promises";
import timers from "node:timers/promises";
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

test("one profile is taken at a time, and leaves nothing behind", async () => {
  const disconnect = jest.spyOn(Session.prototype, "disconnect");
  const routes = createProfilingRoutes(["registrar"]);
  const { signal } = new AbortController();
  const ask = async (name: string, query = "") => {
    const request = { method: "GET", path: "", query: new URLSearchParams(query), accept: "", isLast: true };
    return await routes.get(`/debug/pprof/${name}`)?.(request, signal);
  };
  const profiling = ask("profile", "seconds=0.01");
  for (const name of ["profile", "heap"]) expect(await ask(name)).toMatchObject({ status: 409 });
  const headers = { "content-disposition": 'attachment; filename="cpu.cpuprofile"' };
  expect(await profiling).toMatchObject({ status: 200, headers, body: expect.stringContaining('"nodes":') });
  expect(disconnect).toHaveBeenCalledTimes(1);
  const delay = jest.spyOn(timers, "setTimeout").mockResolvedValue(undefined);
  expect(await ask("profile")).toMatchObject({ status: 200 });
  expect(delay).toHaveBeenCalledWith(30_000, undefined, { signal });
});
