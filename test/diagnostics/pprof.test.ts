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
