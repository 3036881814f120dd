import { writeFileSync } from "node:fs";
import { createApiClient } from "../../../src/node-readiness/api/client";
import { createNodeApi } from "../../../src/node-readiness/api/node-api";
import { expectNothingLeft } from "../../support/resources";
import { createTempFolder } from "../../support/temp-folder";
import { type Certificate, makeCertificate } from "../support/certificates";
import { makeTestCertificate } from "../support/fixture";
import { type Fault, NODE_NAME, startScriptedApiServer } from "../support/scripted-api-server";

let certificate: Certificate;
beforeAll(async () => {
  certificate = await makeTestCertificate();
});

const { signal } = new AbortController();
const getNode = { method: "GET", path: `/api/v1/nodes/${NODE_NAME}` } as const;

test("a call carries the token, over one connection for several, and leaves nothing behind", () =>
  expectNothingLeft(async () => {
    await using server = await startScriptedApiServer(certificate);
    const client = createApiClient(server.access);
    for (const _ of [1, 2, 3]) expect((await client.call(getNode, signal)).kind).toBe("answered");
    expect(server.requests.map(({ token }) => token)).toEqual(["secret", "secret", "secret"]);
    expect(client.calls).toBe(3);
    client.close();
  }));

test.each(["127.0.0.1", "::1"])("the server may be at %s", async (host) => {
  await using server = await startScriptedApiServer(certificate, host);
  const client = createApiClient(server.access);
  expect((await client.call(getNode, signal)).kind).toBe("answered");
  client.close();
});

describe("TLS is verified", () => {
  const { NODE_TLS_REJECT_UNAUTHORIZED: before } = process.env;
  afterEach(() => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
  });

  test.each([undefined, "0"])("with NODE_TLS_REJECT_UNAUTHORIZED=%s", async (variable) => {
    if (variable !== undefined) process.env.NODE_TLS_REJECT_UNAUTHORIZED = variable;
    await using folder = await createTempFolder();
    const stranger = makeCertificate(folder.path, "stranger");
    await using server = await startScriptedApiServer(certificate);
    const cases = [
      { ...server.access, authority: { kind: "value", value: stranger.certificate } as const },
      { ...server.access, authority: undefined },
      { ...server.access, serverName: "other.example.com" },
    ];
    for (const access of cases) {
      const client = createApiClient(access);
      const answer = await client.call(getNode, signal);
      expect(answer).toMatchObject({ kind: "failed", failure: { kind: "unreachable" } });
      client.close();
    }
    expect(server.requests).toEqual([]);
  });
});

test("token and authority are read anew for each call", async () => {
  await using folder = await createTempFolder();
  await using server = await startScriptedApiServer(certificate);
  const [token, ca] = [folder.at("token"), folder.at("ca.crt")];
  const access = {
    server: server.access.server,
    authority: { kind: "file", path: ca },
    token: { kind: "file", path: token },
  } as const;
  const client = createApiClient(access);
  const kindOf = async () => {
    const answer = await client.call(getNode, signal);
    return answer.kind === "failed" ? answer.failure.kind : answer.kind;
  };
  expect(await kindOf()).toBe("no-credentials");
  writeFileSync(token, "one");
  writeFileSync(ca, makeCertificate(folder.path, "old").certificate);
  expect(await kindOf()).toBe("unreachable");
  writeFileSync(ca, certificate.certificate);
  expect(await kindOf()).toBe("answered");
  writeFileSync(token, "two");
  expect(await kindOf()).toBe("answered");
  expect(server.requests.map((request) => request.token)).toEqual(["one", "two"]);
  client.close();
});

const status = (code: number, retryAfter?: string): Fault => ({
  kind: "status",
  code,
  message: "told",
  ...(retryAfter === undefined ? {} : { retryAfter }),
});

test.each<[string, Fault, object]>([
  ["401", status(401), { kind: "unauthorized", message: "told" }],
  ["403", status(403), { kind: "forbidden", message: "told" }],
  ["404", status(404), { kind: "not-found", message: "told" }],
  [
    "a load balancer's 404",
    { kind: "page", code: 404, contentType: "text/html", text: "<h1>Not Found</h1>" },
    { kind: "unexpected", message: "HTTP status 404" },
  ],
  [
    "a gateway's 404 in JSON",
    { kind: "page", code: 404, contentType: "application/json", text: '{"message":"no route"}' },
    { kind: "unexpected", message: "HTTP status 404: no route" },
  ],
  ["409", status(409), { kind: "conflict", message: "told" }],
  ["422", status(422), { kind: "conflict", message: "told" }],
  ["410", status(410), { kind: "expired", message: "told" }],
  ["429", status(429, "7"), { kind: "unavailable", retryAfterMs: 7000 }],
  ["a Retry-After of years", status(429, "1e9"), { kind: "unavailable", retryAfterMs: 60_000 }],
  [
    "a success that is not JSON",
    { kind: "page", code: 200, contentType: "text/html", text: "<h1>Log in</h1>" },
    { kind: "unexpected", message: "HTTP status 200: the answer is not JSON but text/html" },
  ],
  [
    "2 MB of nested arrays",
    {
      kind: "page",
      code: 200,
      contentType: "application/json",
      text: "[".repeat(1 << 20) + "]".repeat(1 << 20),
    },
    { kind: "unexpected", message: "HTTP status 200: the answer has more than 50000 arrays and objects" },
  ],
  [
    "more than 2 MB",
    { kind: "page", code: 200, contentType: "application/json", text: `"${"x".repeat(2 << 20)}"` },
    { kind: "unreachable", message: "the answer has more than 2097152 bytes" },
  ],
  [
    "101: another protocol",
    { kind: "switch-protocols" },
    { kind: "unreachable", message: "HTTP status 101: the server speaks another protocol than HTTP here" },
  ],
  ["503 without a time", status(503), { kind: "unavailable", retryAfterMs: undefined }],
  [
    "a redirect, which is not followed",
    status(302),
    { kind: "unexpected", message: "HTTP status 302: told" },
  ],
  ["500", status(500), { kind: "unexpected", message: "HTTP status 500: told" }],
  ["a connection that breaks", { kind: "reset" }, { kind: "unreachable" }],
])("%s", async (_what, fault, failure) => {
  await using server = await startScriptedApiServer(certificate);
  server.script = () => fault;
  const client = createApiClient(server.access);
  expect(await client.call(getNode, signal)).toMatchObject({ kind: "failed", failure });
  client.close();
});

test.each<[string, Fault, object]>([
  ["CSINode is not there", status(404), { kind: "done", value: [] }],
  [
    "a proxy knows no such path",
    { kind: "page", code: 404, contentType: "text/html", text: "<h1>Not Found</h1>" },
    { kind: "failed", failure: { kind: "unexpected" } },
  ],
])("%s: what that says of the drivers in it", async (_what, fault, outcome) => {
  await using server = await startScriptedApiServer(certificate);
  server.script = () => fault;
  const client = createApiClient(server.access);
  expect(await createNodeApi(client, NODE_NAME).getListedDrivers(signal)).toMatchObject(outcome);
  client.close();
});

test("a call without an answer ends with its signal", async () => {
  await using server = await startScriptedApiServer(certificate);
  const abort = new AbortController();
  server.script = () => {
    abort.abort(new Error("no more"));
    return { kind: "silence" };
  };
  const client = createApiClient(server.access);
  expect(await client.call(getNode, abort.signal)).toMatchObject({ kind: "failed" });
  client.close();
});

test("a watch has a connection of its own", async () => {
  await using server = await startScriptedApiServer(certificate);
  const client = createApiClient(server.access);
  expect((await client.call(getNode, signal)).kind).toBe("answered");
  const stop = new AbortController();
  const options = { signal: stop.signal, idleMs: 60_000, onOpen: () => stop.abort() };
  await client.follow("/api/v1/nodes?watch=true&resourceVersion=999", options, () => {});
  expect((await client.call(getNode, signal)).kind).toBe("answered");
  const [first, watch, second] = server.requests.map(({ port }) => port);
  expect(watch).not.toBe(first);
  expect(second).toBe(first);
  client.close();
});

test("a stream that says nothing for too long is given up", async () => {
  await using server = await startScriptedApiServer(certificate);
  const client = createApiClient(server.access);
  const opened: string[] = [];
  const options = { signal, idleMs: 1_500, onOpen: () => opened.push("opened") };
  const failure = await client.follow("/api/v1/nodes?watch=true&resourceVersion=999", options, () => {});
  expect(failure).toEqual({ kind: "unreachable", message: "nothing came in 1.5 s" });
  expect(opened).toEqual(["opened"]);
  client.close();
});

test("a Node's name cannot lead elsewhere", async () => {
  await using server = await startScriptedApiServer(certificate);
  const client = createApiClient(server.access);
  await createNodeApi(client, "../../secrets").getNode(signal);
  expect(server.requests[0]?.url).toBe("/api/v1/nodes/..%2F..%2Fsecrets");
  client.close();
});
