import { request } from "node:http";
import { serveDiagnostics } from "../support/diagnostics";
import { eventually } from "../support/eventually";
import { createTestNode, startTestRegistrar, type TestNode } from "../support/registrar-node";

let node: TestNode;
beforeEach(async () => {
  node = await createTestNode();
});
afterEach(() => node[Symbol.asyncDispose]());

async function serve(profiledCommandLine?: readonly string[]) {
  const started = await startTestRegistrar(node);
  const http = await serveDiagnostics(started, { profiledCommandLine });
  return {
    ask: http.ask,
    port: http.port,
    [Symbol.asyncDispose]: async () => {
      await http[Symbol.asyncDispose]();
      await started[Symbol.asyncDispose]();
    },
  };
}

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

/** What a profile holds is asked of a process, in test/end-to-end/http: that of a Jest worker is huge. */
test("a CPU profile ends when its client leaves", async () => {
  await using http = await serve([]);
  const client = request(`http://127.0.0.1:${http.port}/debug/pprof/profile?seconds=300`).on(
    "error",
    () => {},
  );
  client.end();
  await eventually(async () =>
    expect((await http.ask("/debug/pprof/profile?seconds=0.01")).status).toBe(409),
  );
  client.destroy();
  await eventually(async () =>
    expect((await http.ask("/debug/pprof/profile?seconds=0.01")).status).toBe(200),
  );
});

test.each(["0", "-1", "301", "soon", ""])("seconds=%s is refused", async (seconds) => {
  await using http = await serve([]);
  expect((await http.ask(`/debug/pprof/profile?seconds=${seconds}`)).status).toBe(400);
});
