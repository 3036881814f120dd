import { request } from "node:http";
import { eventually } from "../support/eventually";
import { serveRegistrar } from "./support";

const serve = (profiledCommandLine?: readonly string[]) => serveRegistrar({ http: { profiledCommandLine } });

test.each(["/debug/pprof/", "/debug/pprof/profile", "/debug/pprof/heap", "/debug/pprof/cmdline"])(
  "%s is not there unless it was asked for",
  async (path) => {
    await using http = await serve();
    expect((await http.ask(path)).status).toBe(404);
  },
);

test("an index says what there is", async () => {
  await using http = await serve(["registrar", "--v=5"]);
  expect(await http.ask("/debug/pprof/")).toMatchObject({
    status: 200,
    body: expect.stringContaining("/debug/pprof/profile"),
  });
  expect((await http.ask("/debug/pprof/cmdline")).body).toBe("registrar\0--v=5");
});

/** test/end-to-end/http looks at a profile's content: that of a Jest worker is huge. */
test("a CPU profile ends when its client leaves", async () => {
  await using http = await serve([]);
  const client = request(`http://127.0.0.1:${http.port}/debug/pprof/profile?seconds=300`);
  client.on("error", () => {}).end();
  const short = async () => (await http.ask("/debug/pprof/profile?seconds=0.01")).status;
  await eventually(async () => expect(await short()).toBe(409));
  client.destroy();
  await eventually(async () => expect(await short()).toBe(200));
});

test.each(["0", "-1", "301", "soon", ""])("seconds=%s is refused", async (seconds) => {
  await using http = await serve([]);
  expect((await http.ask(`/debug/pprof/profile?seconds=${seconds}`)).status).toBe(400);
});
