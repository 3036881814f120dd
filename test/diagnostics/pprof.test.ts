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

test("a CPU profile is one that V8's tools read", async () => {
  await using http = await serve([]);
  const { status, headers, body } = await http.ask("/debug/pprof/profile?seconds=0.05");
  expect({ status, file: headers["content-disposition"] }).toEqual({
    status: 200,
    file: 'attachment; filename="cpu.cpuprofile"',
  });
  expect(JSON.parse(body)).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) });
});

test("one CPU profile is taken at a time, and the next when it is done", async () => {
  await using http = await serve([]);
  const both = await Promise.all([
    http.ask("/debug/pprof/profile?seconds=0.2"),
    http.ask("/debug/pprof/profile?seconds=0.2"),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await http.ask("/debug/pprof/profile?seconds=0.01")).status).toBe(200);
});

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

test("a heap snapshot is one that V8's tools read", async () => {
  await using http = await serve([]);
  const { status, body } = await http.ask("/debug/pprof/heap");
  expect(status).toBe(200);
  expect(body.slice(0, 40)).toContain('{"snapshot":{"meta"');
});
