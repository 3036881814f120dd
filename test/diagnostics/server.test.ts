import type { LookupOneOptions } from "node:dns";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { parseListenAddress } from "../../src/diagnostics/endpoint";
import { textAnswer } from "../../src/diagnostics/http/connection";
import type { Route } from "../../src/diagnostics/server";
import { controlWaits } from "../support/controlled-waits";
import { askHttp } from "../support/http";
import { recordLog } from "../support/recorded-log";
import { expectNothingLeft } from "../support/resources";

const waits = controlWaits();
const lookups: unknown[][] = [];
jest.doMock("node:dns/promises", () => {
  const real = jest.requireActual<typeof import("node:dns/promises")>("node:dns/promises");
  const lookup = (name: string, options: LookupOneOptions) => {
    lookups.push([name, options]);
    return real.lookup(name, options);
  };
  return { ...real, lookup };
});
const loading = import("../../src/diagnostics/server");
const RETRY_MS = 5_000;
const ANY_PORT = "127.0.0.1:0";

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === "::1"),
);

async function start(endpoint: string, routes: Readonly<Record<string, Route>> = {}) {
  const log = recordLog();
  const { startDiagnosticsServer } = await loading;
  const server = startDiagnosticsServer(parseListenAddress(endpoint), new Map(Object.entries(routes)), {
    log: log.logger,
  });
  return { ...server, log };
}

const hello: Route = () => textAnswer(200, "hello");
const never: Route = () => new Promise(() => {});

test.each([
  ["127.0.0.1:0", "127.0.0.1"],
  [":0", "127.0.0.1"],
  ["localhost:0", "127.0.0.1"],
  ...["[::1]:0", ":0"].flatMap((endpoint) => (hasIpv6 ? [[endpoint, "::1"]] : [])),
])("listens on %s and is reached at %s", async (endpoint, host) => {
  await using server = await start(endpoint, { "/hello": hello });
  const port = await server.listening;
  expect(await askHttp(port, "/hello", { host })).toMatchObject({ status: 200, body: "hello" });
  expect(server.log.all("HTTP server started").map(({ fields }) => fields)).toEqual([{ endpoint, port }]);
  // Of a name the IPv4 address, as in Go.
  const looked = endpoint.startsWith("localhost") ? [["localhost", { order: "ipv4first" }]] : [];
  expect(lookups.splice(0)).toEqual(looked);
});

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((end) => {
    resolve = end;
  });
  return { promise, resolve };
}

const fail = () => {
  throw new Error("broken");
};

test("a request of another path is answered with 404, one whose route fails with 500, the next is served", async () => {
  const routes = { "/throws": fail, "/rejects": async () => fail(), "/hello": hello };
  await using server = await start(ANY_PORT, routes);
  const port = await server.listening;
  for (const path of ["/", "/hello/", "//hello", "/%", "/hello%20", "*"])
    expect(await askHttp(port, path)).toMatchObject({ status: 404, body: "404 page not found\n" });
  for (const path of ["/throws", "/rejects"])
    expect(await askHttp(port, path)).toMatchObject({ status: 500, body: "broken\n" });
  expect(server.log.all("HTTP request failed")).toHaveLength(2);
  expect((await askHttp(port, "/hello")).status).toBe(200);
});

test("the error of a request whose client has left is not logged", async () => {
  const { promise: failing, resolve: onFail } = deferred();
  const { promise: asked, resolve: onAsked } = deferred();
  const leave: Route = async (_request, signal) => {
    onAsked();
    await once(signal, "abort");
    setImmediate(onFail);
    return fail();
  };
  await using server = await start(ANY_PORT, { "/leave": leave });
  const client = connect(await server.listening, "127.0.0.1");
  client.write("GET /leave HTTP/1.1\r\nhost: x\r\n\r\n");
  await asked;
  client.destroy();
  await failing;
  expect(server.log.all("HTTP request failed")).toEqual([]);
});

describe("a port that is in use", () => {
  async function occupy() {
    const occupant = createServer();
    await new Promise<void>((resolve) => occupant.listen(0, "127.0.0.1", resolve));
    const address = occupant.address();
    const port = typeof address === "object" && address ? address.port : 0;
    return { port, leave: () => new Promise((resolve) => occupant.close(resolve)) };
  }

  test("a taken port is tried again until it is free", async () => {
    const { port, leave } = await occupy();
    const endpoint = `127.0.0.1:${port}`;
    await using server = await start(endpoint, { "/hello": hello });
    // More often than an event emitter stands listeners that nobody takes away.
    const check = expect.stringContaining("another process has this port and gets the probes");
    const fields = { endpoint, err: expect.stringContaining("EADDRINUSE"), retryIn: "5s", check };
    for (let attempt = 1; attempt <= 12; attempt++) {
      const warning = await server.log.when("HTTP server cannot listen, trying again", attempt);
      expect(warning).toMatchObject({ severity: "warning", fields });
      if (attempt === 12) await leave();
      await waits.end(RETRY_MS);
    }
    expect(await server.listening).toBe(port);
    expect((await askHttp(port, "/hello")).status).toBe(200);
  });

  test("an address that this machine has not is told without the advice for a port", async () => {
    await using server = await start("192.0.2.1:0");
    const { fields } = await server.log.when("HTTP server cannot listen, trying again");
    const err = expect.stringContaining("EADDRNOTAVAIL");
    expect(fields).toEqual({ endpoint: "192.0.2.1:0", err, retryIn: "5s" });
  });

  test("close() ends the attempts to listen on a taken port", async () => {
    const { port, leave } = await occupy();
    await expectNothingLeft(async () => {
      const server = await start(`127.0.0.1:${port}`);
      await server.log.when("HTTP server cannot listen, trying again");
      await server.close();
    });
    expect(waits.pending()).toEqual([]);
    await leave();
  });
});

describe("close", () => {
  test("close() cuts connections, frees the port, and returns the same promise", () =>
    expectNothingLeft(async () => {
      const server = await start(ANY_PORT, { "/never": never });
      const port = await server.listening;
      const asking = askHttp(port, "/never");
      asking.catch(() => {});
      const closing = server.close();
      expect(server.close()).toBe(closing);
      await closing;
      await expect(asking).rejects.toMatchObject({ code: expect.stringMatching(/ECONN/) });
      await expect(askHttp(port, "/")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    }));

  test("close() during the lookup of a name keeps the server from listening", () =>
    expectNothingLeft(async () => {
      const server = await start("localhost:0");
      await server.close();
      expect(server.log.records).toEqual([]);
    }));
});
