import { writeFileSync } from "node:fs";
import { Socket } from "node:net";
import type { SecureContextOptions } from "node:tls";
import type { ApiAccess } from "../../src/kube-api/access";
import { createApiClient } from "../../src/kube-api/client";
import { createNodeApi } from "../../src/node-readiness/node-api";
import { ROOT } from "../docs/markdown";
import { apiServerCertificate, makeCertificate } from "../node-readiness/support/certificates";
import { type Fault, NODE_NAME, startScriptedApiServer } from "../node-readiness/support/scripted-api-server";
import { run } from "../support/child-process";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { expectNothingLeft } from "../support/resources";
import { createTempFolder } from "../support/temp-folder";

const folder = eachTest(createTempFolder);
const server = eachTest(startScriptedApiServer);
const { signal } = new AbortController();
const getNode = { method: "GET", path: `/api/v1/nodes/${NODE_NAME}` } as const;

/** A client, and how its request for the Node ends: with `done`, or the kind of the failure. */
function connect(access: ApiAccess) {
  const client = createApiClient(access);
  const ask = async () => {
    const answer = await client.call(getNode, signal);
    return answer.kind === "failed" ? answer.failure.kind : answer.kind;
  };
  return { client, ask, [Symbol.asyncDispose]: async () => client.close() };
}

const connection = eachTest(async () => connect(server.access));

test("a request carries the token, over one connection for several, and leaves nothing behind", () =>
  expectNothingLeft(async () => {
    await using server = await startScriptedApiServer();
    await using connection = connect(server.access);
    for (const _ of [1, 2, 3]) expect(await connection.ask()).toBe("done");
    expect(server.requests.map(({ token }) => token)).toEqual(["secret", "secret", "secret"]);
    expect(connection.client.calls).toBe(3);
  }));

test.each(["127.0.0.1", "::1"])("the server may be at %s", async (host) => {
  await using server = await startScriptedApiServer(host);
  await using connection = connect(server.access);
  expect(await connection.ask()).toBe("done");
});

test("a request that is not answered is given up after 10 s", async () => {
  server.script = () => ({ kind: "silence" });
  const wait = setTimeout;
  const timer = jest.spyOn(globalThis, "setTimeout");
  // Ten seconds pass at once.
  timer.mockImplementation(((end: () => void, ms?: number) =>
    wait(end, ms === 10_000 ? 1 : ms)) as typeof wait);
  const asking = connection.client.call(getNode, signal);
  timer.mockRestore();
  const failure = { kind: "unreachable", message: "no answer in 10 s" };
  expect(await asking).toEqual({ kind: "failed", failure });
}, 5_000);

test("a request leaves no timer, and no listener on its caller's signal", async () => {
  const [set, clear] = [jest.spyOn(globalThis, "setTimeout"), jest.spyOn(globalThis, "clearTimeout")];
  const { signal: long } = new AbortController();
  const [added, removed] = [jest.spyOn(long, "addEventListener"), jest.spyOn(long, "removeEventListener")];
  await connection.client.call(getNode, long);
  expect(added).toHaveBeenCalledTimes(1);
  expect(removed.mock.calls[0]).toEqual(added.mock.calls[0]?.slice(0, 2));
  const limits = set.mock.results.filter((_, at) => set.mock.calls[at]?.[1] === 10_000);
  expect(limits).not.toEqual([]);
  for (const { value } of limits) expect(clear.mock.calls.some(([cleared]) => cleared === value)).toBe(true);
});

test("TLS is verified, by the given authority and name", async () => {
  const value = makeCertificate(folder.path, "stranger").certificate;
  const authority = { kind: "value", value } as const;
  for (const change of [{ authority }, { authority: undefined }, { serverName: "other.example.com" }]) {
    await using connection = connect({ ...server.access, ...change });
    expect(await connection.ask()).toBe("unreachable");
  }
  expect(server.requests).toEqual([]);
});

/** In a process of its own: Jest gives tests a copy of the environment, and Node reads the real one. */
async function askWithNodesDoorsOpen(access: ApiAccess) {
  const script = `
    const access = JSON.parse(process.argv[1]);
    const { createApiClient } = require("./src/kube-api/client.ts");
    const client = createApiClient(access);
    const { signal } = new AbortController();
    client.call({ method: "GET", path: "/version" }, signal).then(({ failure }) => {
      client.close();
      require("node:https").get(access.server, ({ statusCode }) => {
        console.log(failure.kind, statusCode);
        process.exit();
      });
    });`;
  const flags = [
    "--tls-min-v1.0",
    "--tls-cipher-list=DEFAULT@SECLEVEL=0",
    "--require",
    "./scripts/typescript.cjs",
  ];
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  const { stdout } = await run(process.execPath, [...flags, "-e", script, JSON.stringify(access)], {
    cwd: ROOT,
    env,
  });
  return stdout.trim();
}

test.each<[string, SecureContextOptions, string]>([
  ["with a stranger's certificate", {}, "unreachable 404"],
  [
    "that speaks TLS 1.1",
    { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" },
    "unreachable 404",
  ],
  ["that is as it must be", {}, "not-found 404"],
])(
  "an API server %s, where the environment and flags of Node allow everything",
  async (what, tls, told) => {
    await using server = await startScriptedApiServer(undefined, tls);
    const stranger = makeCertificate(folder.path, "stranger").certificate;
    const authority = { kind: "value", value: stranger } as const;
    const access = { ...server.access, ...(what.includes("stranger") && { authority }) };
    expect(await askWithNodesDoorsOpen(access)).toBe(told);
  },
  60_000,
);

test("token and authority are read again for each request", async () => {
  const [token, ca] = [folder.at("token"), folder.at("ca.crt")];
  await using connection = connect({
    server: server.access.server,
    authority: { kind: "file", path: ca },
    token: { kind: "file", path: token },
  });
  expect(await connection.ask()).toBe("no-credentials");
  writeFileSync(token, "one");
  writeFileSync(ca, makeCertificate(folder.path, "old").certificate);
  expect(await connection.ask()).toBe("unreachable");
  writeFileSync(ca, (await apiServerCertificate()).certificate);
  expect(await connection.ask()).toBe("done");
  writeFileSync(token, "two");
  expect(await connection.ask()).toBe("done");
  expect(server.requests.map((request) => request.token)).toEqual(["one", "two"]);
});

const status = (code: number, retryAfter?: string): Fault => ({
  kind: "status",
  code,
  message: "told",
  ...(retryAfter !== undefined && { retryAfter }),
});
const page = (code: number, contentType: string, text: string): Fault => ({
  kind: "page",
  code,
  contentType,
  text,
});
const json = (code: number, text: string) => page(code, "application/json", text);
const told = (kind: string) => ({ kind, message: "told" });
const unexpected = (message: string) => ({ kind: "unexpected", message: `HTTP status ${message}` });
const SWITCHED = { kind: "unreachable", message: "HTTP status 101: the server switched to another protocol" };
const LOST = page(404, "text/html", "<h1>Not Found</h1>");
const NESTED = "[".repeat(1 << 20) + "]".repeat(1 << 20);

test.each<[string, Fault, object]>([
  ["404", status(404), told("not-found")],
  ["a load balancer's 404", LOST, unexpected("404")],
  ["a gateway's 404 in JSON", json(404, '{"message":"no route"}'), unexpected("404: no route")],
  ["429", status(429, "7"), { kind: "unavailable", retryAfterMs: 7000 }],
  ["no JSON", page(200, "text/html", "<h1>"), unexpected("200: the answer is not JSON but text/html")],
  ["2 MB of arrays", json(200, NESTED), unexpected("200: the answer has more than 50000 arrays and objects")],
  [
    "over 2 MB",
    json(200, `"${"x".repeat(2 << 20)}"`),
    unexpected("200: the answer has more than 2097152 bytes"),
  ],
  ["101: another protocol", { kind: "switch-protocols" }, SWITCHED],
  ["a redirect, which is not followed", status(302), unexpected("302: told")],
  ["a connection that breaks", { kind: "reset" }, { kind: "unreachable" }],
])("%s", async (_what, fault, failure) => {
  server.script = () => fault;
  expect(await connection.client.call(getNode, signal)).toMatchObject({ kind: "failed", failure });
});

test("a connection for another protocol is closed", () =>
  expectNothingLeft(async () => {
    await using server = await startScriptedApiServer();
    server.script = () => ({ kind: "switch-protocols" });
    const client = createApiClient(server.access);
    const before = process.getActiveResourcesInfo().length;
    await client.call(getNode, signal);
    await eventually(() => expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before));
    client.close();
  }));

test.each<[string, Fault, object]>([
  ["there is no CSINode", status(404), { kind: "done", value: { drivers: [] } }],
  ["a proxy knows no such path", LOST, { kind: "failed", failure: { kind: "unexpected" } }],
])("%s: what that says of the drivers in it", async (_what, fault, outcome) => {
  server.script = () => fault;
  expect(await createNodeApi(connection.client, NODE_NAME).getCsiNode(signal)).toMatchObject(outcome);
});

test("a request without an answer ends with its signal", async () => {
  const abort = new AbortController();
  server.script = () => {
    abort.abort(new Error("no more"));
    return { kind: "silence" };
  };
  expect(await connection.client.call(getNode, abort.signal)).toMatchObject({ kind: "failed" });
});

const WATCH = "/api/v1/nodes?watch=true&resourceVersion=999";

test("a watch has a connection of its own", async () => {
  expect(await connection.ask()).toBe("done");
  const stop = new AbortController();
  const options = { signal: stop.signal, idleMs: 60_000, onOpen: () => stop.abort(), onObject: () => {} };
  const keepAlive = jest.spyOn(Socket.prototype, "setKeepAlive");
  expect(await connection.client.follow(WATCH, options)).toBeUndefined();
  // The kernel finds out that an API server is gone without a word.
  expect(keepAlive.mock.calls).toContainEqual([true, 30_000]);
  expect(await connection.ask()).toBe("done");
  const [first, watch, second] = server.requests.map(({ port }) => port);
  expect(watch).not.toBe(first);
  expect(second).toBe(first);
});

test.each([
  ["is wanted", signal, { kind: "no-credentials" }],
  ["is wanted no more", AbortSignal.abort(), undefined],
])("a watch whose token cannot be read is a failure only where it %s", async (_what, signal, failure) => {
  const token = { kind: "file", path: folder.at("none") } as const;
  await using connection = connect({ ...server.access, token });
  const options = { signal, idleMs: 60_000, onOpen: () => {}, onObject: () => {} };
  const found = await connection.client.follow(WATCH, options);
  expect(found && { kind: found.kind }).toEqual(failure);
});

test("a stream that is silent for too long is given up", async () => {
  const onOpen = jest.fn();
  const options = { signal, idleMs: 1_500, onOpen, onObject: () => {} };
  const failure = await connection.client.follow(WATCH, options);
  expect(failure).toEqual({ kind: "unreachable", message: "no data in 1.5 s" });
  expect(onOpen).toHaveBeenCalledTimes(1);
});

test("a stream that sends something now and then is kept", async () => {
  jest.useFakeTimers({
    doNotFake: ["Date", "nextTick", "performance", "queueMicrotask", "setImmediate", "setInterval"],
  });
  try {
    const onObject = jest.fn();
    const following = connection.client.follow(WATCH, { signal, idleMs: 1_000, onOpen: () => {}, onObject });
    await eventually(() => expect(server.watches).toBe(1));
    for (const times of [1, 2, 3]) {
      jest.advanceTimersByTime(900);
      server.tellWatches({});
      await eventually(() => expect(onObject).toHaveBeenCalledTimes(times));
    }
    jest.advanceTimersByTime(1_000);
    expect(await following).toEqual({ kind: "unreachable", message: "no data in 1 s" });
  } finally {
    jest.useRealTimers();
  }
});

test("a Node's name cannot lead elsewhere", async () => {
  await createNodeApi(connection.client, "../../secrets").getNode(signal);
  expect(server.requests[0]?.url).toBe("/api/v1/nodes/..%2F..%2Fsecrets");
});
