import { eventually } from "../support/eventually";
import type { Certificate } from "./support/certificates";
import { DRIVER } from "./support/controlled-registrations";
import { makeTestCertificate, STARTUP_TAINT, startFixture } from "./support/fixture";
import type { SeenRequest } from "./support/scripted-api-server";

let certificate: Certificate;
beforeAll(async () => {
  certificate = await makeTestCertificate();
});

const IN_TROUBLE =
  "API server does not do what the node's readiness needs, trying again; the registration stands";
const WELL_AGAIN = "API server does what it is asked for again";
const looks = (requests: readonly SeenRequest[]) =>
  requests.map(({ kind, resourceVersion }) => (kind === "watch" ? `watch ${resourceVersion}` : kind));

test("only the own node is asked for, in a watch with bookmarks that ends by itself", async () => {
  await using fixture = await startFixture(certificate);
  await eventually(() => expect(fixture.server.watches).toBe(1));
  const query = new URL(fixture.server.requests[1]?.url ?? "", "https://server").searchParams;
  expect(Object.fromEntries(query)).toEqual({
    watch: "true",
    fieldSelector: "metadata.name=node-1",
    resourceVersion: "101",
    allowWatchBookmarks: "true",
    timeoutSeconds: expect.stringMatching(/^[3-6]\d$/),
  });
});

test("a watch that ends is begun anew from where it was, without a read and without a word", async () => {
  await using fixture = await startFixture(certificate);
  const { server, log } = fixture;
  await eventually(() => expect(server.watches).toBe(1));
  server.tellWatches({ type: "BOOKMARK", object: { metadata: { resourceVersion: "500" } } });
  server.endWatches();
  await eventually(() => expect(looks(server.requests)).toEqual(["get-node", "watch 101", "watch 500"]));
  expect(log.records).toEqual([]);
});

test("a connection that breaks is no trouble as long as the next one holds, and nothing is missed", async () => {
  await using fixture = await startFixture(certificate);
  const { server, registrations, log } = fixture;
  server.listed = [DRIVER];
  registrations.set("registered");
  await eventually(() => expect(server.watches).toBe(1));
  server.breakConnections();
  server.setTaints([STARTUP_TAINT]);
  await log.when("Startup taint removed");
  expect(looks(server.requests).slice(0, 3)).toEqual(["get-node", "watch 101", "watch 101"]);
  expect(log.records.filter(({ severity }) => severity !== "info")).toEqual([]);
});

test.each([
  ["in the stream", "stream"],
  ["in place of one", "status"],
])("410 %s leads to one read, and no word of trouble", async (_where, where) => {
  await using fixture = await startFixture(certificate);
  const { server, log } = fixture;
  await eventually(() => expect(server.watches).toBe(1));
  let told = false;
  server.script = ({ kind }) => {
    if (kind !== "watch" || told || where === "stream") return undefined;
    told = true;
    return { kind: "status", code: 410, message: "too old resource version" };
  };
  if (where === "stream")
    server.tellWatches({ type: "ERROR", object: { kind: "Status", code: 410, message: "too old" } });
  server.endWatches();
  await eventually(() => expect(looks(server.requests).slice(2)).toContain("get-node"));
  await eventually(() => expect(server.watches).toBe(1));
  expect(
    looks(server.requests)
      .slice(2)
      .filter((look) => look === "get-node"),
  ).toHaveLength(1);
  expect(log.records).toEqual([]);
});

test("an overloaded server is asked again when it said, and told of once", async () => {
  let refusals = 0;
  await using fixture = await startFixture(certificate, undefined, (server) => {
    server.script = () => {
      refusals += 1;
      return refusals <= 3
        ? { kind: "status", code: 429, message: "too many requests", retryAfter: "0" }
        : undefined;
    };
  });
  const { log } = fixture;
  await log.when(WELL_AGAIN);
  expect(log.all(IN_TROUBLE)).toHaveLength(1);
  expect(fixture.readiness.status().api.failures).toEqual({ unavailable: 3 });
});

test("kubelet's registration status ends the wait for an API server that was away", async () => {
  let away = true;
  await using fixture = await startFixture(
    certificate,
    {
      startupTaints: ["{driver}/agent-not-ready"],
      pace: { watch: { retry: { initialMs: 3_600_000, maxMs: 3_600_000 }, lastsMs: 60_000, spreadMs: 10 } },
    },
    (server) => {
      server.setTaints([STARTUP_TAINT]);
      server.listed = [DRIVER];
      server.script = () => (away ? { kind: "reset" } : undefined);
    },
  );
  const { registrations, log } = fixture;
  await log.when(IN_TROUBLE);
  away = false;
  registrations.set("registered");
  await log.when("Startup taint removed");
});

test("a Node that is deleted and made anew is another one", async () => {
  await using fixture = await startFixture(certificate);
  const { server, registrations, log, readiness } = fixture;
  server.listed = [DRIVER];
  registrations.set("registered");
  await eventually(() => expect(server.watches).toBe(1));
  server.setTaints([{ key: "a", effect: "NoSchedule" }]);
  server.deleteNode();
  server.createNode();
  server.setTaints([STARTUP_TAINT]);
  await log.when("Startup taint removed");
  expect(readiness.status().taints).toMatchObject([{ present: false, removals: 1 }]);
});
