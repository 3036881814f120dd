import { eventually } from "../support/eventually";
import { DRIVER } from "./support/controlled-registrations";
import {
  type Fixture,
  type FixtureOptions,
  IN_TROUBLE,
  QUICK_PACE,
  STARTUP_TAINT,
  startFixture,
  WELL_AGAIN,
} from "./support/fixture";

const looks = ({ server }: Fixture) =>
  server.requests.map(({ kind, resourceVersion }) => (kind === "watch" ? `watch ${resourceVersion}` : kind));

async function startWatching() {
  const fixture = await startFixture();
  await fixture.isWatching();
  return fixture;
}

test("only the own node is watched, with bookmarks and an end", async () => {
  await using fixture = await startWatching();
  const query = new URL(fixture.server.requests[1]?.url ?? "", "https://server").searchParams;
  expect(Object.fromEntries(query)).toEqual({
    watch: "true",
    fieldSelector: "metadata.name=node-1",
    resourceVersion: "101",
    allowWatchBookmarks: "true",
    timeoutSeconds: expect.stringMatching(/^[3-6]\d$/),
  });
});

test("the next watch begins where the last one ended, without a read and without a log line", async () => {
  await using fixture = await startWatching();
  const { server, log } = fixture;
  server.tellWatches({ type: "BOOKMARK", object: { metadata: { resourceVersion: "500" } } });
  server.endWatches();
  await eventually(() => expect(looks(fixture)).toEqual(["get-node", "watch 101", "watch 500"]));
  expect(log.records).toEqual([]);
});

test("a connection that breaks is not a failure as long as the next one holds, and no event is missed", async () => {
  await using fixture = await startWatching();
  const { server, log } = fixture;
  fixture.register(DRIVER);
  server.breakConnections();
  server.setTaints([STARTUP_TAINT]);
  await log.when("Startup taint removed");
  expect(looks(fixture).slice(0, 3)).toEqual(["get-node", "watch 101", "watch 101"]);
  expect(log.records.filter(({ severity }) => severity !== "info")).toEqual([]);
});

test.each(["in the stream", "instead of a stream"])(
  "410 %s leads to one read, and no log line",
  async (where) => {
    await using fixture = await startWatching();
    const { server, log } = fixture;
    if (where === "in the stream")
      server.tellWatches({ type: "ERROR", object: { kind: "Status", code: 410, message: "too old" } });
    else
      server.script = ({ kind }) => {
        if (kind !== "watch") return undefined;
        server.script = () => undefined;
        return { kind: "status", code: 410, message: "too old resource version" };
      };
    server.endWatches();
    await eventually(() => expect(looks(fixture).slice(2)).toContain("get-node"));
    await fixture.isWatching();
    expect(fixture.kinds().filter((kind) => kind === "get-node")).toHaveLength(2);
    expect(log.records).toEqual([]);
  },
);

test("an overloaded server is asked again at the time that it named, with one warning", async () => {
  let refusals = 0;
  await using fixture = await startFixture(undefined, (server) => {
    server.script = () => {
      refusals += 1;
      return refusals <= 3
        ? { kind: "status", code: 429, message: "too many requests", retryAfter: "0" }
        : undefined;
    };
  });
  await fixture.log.when(WELL_AGAIN);
  expect(fixture.log.all(IN_TROUBLE)).toHaveLength(1);
  expect(fixture.readiness.status().api.failures).toEqual({ unavailable: 3 });
});

test("kubelet's registration status ends the wait for an API server that was away", async () => {
  let away = true;
  const options: FixtureOptions = {
    startupTaints: ["{driver}/agent-not-ready"],
    pace: { watch: { ...QUICK_PACE.watch, retry: { initialMs: 3_600_000, maxMs: 3_600_000 } } },
  };
  await using fixture = await startFixture(options, (server) => {
    server.setTaints([STARTUP_TAINT]);
    server.listed = [DRIVER];
    server.script = () => (away ? { kind: "reset" } : undefined);
  });
  const { registrations, log } = fixture;
  await log.when(IN_TROUBLE);
  away = false;
  registrations.set("registered");
  await log.when("Startup taint removed");
});

test("after a restore of etcd a silent watch is replaced by a read of the Node", async () => {
  const options: FixtureOptions = {
    startupTaints: ["{driver}/agent-not-ready"],
    pace: { watch: { ...QUICK_PACE.watch, silentMs: 200 } },
  };
  await using fixture = await startFixture(options);
  await fixture.isWatching();
  const { server, log } = fixture;
  fixture.register(DRIVER);
  server.restore(50);
  server.setTaints([STARTUP_TAINT]);
  await log.when("Startup taint removed");
  expect(server.node?.spec.taints).toEqual([]);
});
