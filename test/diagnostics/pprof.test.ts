import { serveRegistrar } from "./support";

const serve = (profiledCommandLine?: readonly string[]) => serveRegistrar({ http: { profiledCommandLine } });

test("nothing is there unless it was asked for", async () => {
  await using http = await serve();
  for (const name of ["", "profile", "heap", "cmdline"])
    expect((await http.ask(`/debug/pprof/${name}`)).status).toBe(404);
});

test("an index says what there is", async () => {
  await using http = await serve(["registrar", "--v=5"]);
  expect(await http.ask("/debug/pprof/")).toMatchObject({
    status: 200,
    body: expect.stringContaining("/debug/pprof/profile"),
  });
  expect((await http.ask("/debug/pprof/cmdline")).body).toBe("registrar\0--v=5");
});

test("seconds that are none, or too many, are refused", async () => {
  await using http = await serve([]);
  for (const seconds of ["0", "-1", "301", "soon", ""])
    expect((await http.ask(`/debug/pprof/profile?seconds=${seconds}`)).status).toBe(400);
});
