import { done } from "../../src/node-readiness/node-api";
import { createTaintKeeper } from "../../src/node-readiness/taint-keeper";
import { nodeWith, registrationIn } from "./support/controlled-registrations";
import { createKeeperPlay } from "./support/keeper-play";

const [FOUGHT, UNLISTED] = ["fought.csi.example.com", "unlisted.csi.example.com"];
const WANTED = [{ key: "{driver}/agent-not-ready", effect: undefined }];
const PACE = { unlisted: { initialMs: 200, maxMs: 10_000 }, fight: { initialMs: 60_000, maxMs: 60_000 } };

/** A node with the startup taints of these drivers, which another client adds again, whatever was removed. */
function createPlay(...drivers: readonly string[]) {
  const taints = drivers.map((driver) => ({ key: `${driver}/agent-not-ready`, effect: "NoSchedule" }));
  let revision = 0;
  let uid = "1";
  const nodeAsEver = () => {
    revision += 1;
    return done(nodeWith({ uid, resourceVersion: `${revision}`, taints }));
  };
  const patchNode = async () => {
    play.patches += 1;
    return play.failure ?? nodeAsEver();
  };
  const api = { patchNode, getNode: async () => nodeAsEver() };
  const base = createKeeperPlay((log) => createTaintKeeper(WANTED, log, PACE), api);
  base.see(nodeAsEver().value);
  base.lists(FOUGHT);
  const play = Object.assign(base, {
    patches: 0,
    failure: undefined as object | undefined,
    remakeNode: () => {
      uid = "2";
    },
    /** A pass with these drivers registered, of which CSINode lists one: the wait until the next, which then is over. */
    turn: async (...registered: readonly string[]) => {
      base.registrations = registered.map((driver) => ({
        ...registrationIn("registered", driver),
        registeredAtMs: 1,
      }));
      const wait = await base.pass();
      base.now += typeof wait === "number" ? wait : 0;
      return wait;
    },
  });
  return play;
}

test("a driver that CSINode lacks is looked up with pauses, also while another client restores a taint", async () => {
  const play = createPlay(FOUGHT, UNLISTED);
  // The driver is not registered yet.
  expect(await play.turn()).toBeUndefined();
  expect(play.patches).toBe(0);
  const looks: unknown[] = [];
  for (let look = 0; look < 8; look += 1) looks.push(await play.turn(FOUGHT, UNLISTED));
  // Removed again three times at once; then both wait, for what becomes of CSINode and for peace.
  expect(play.patches).toBe(4);
  expect(looks).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  // The API server's answer still had it each time (aws-efs#1613).
  expect(play.log.all("Another client added the startup taint again")).toHaveLength(4);
  expect(play.log.all("Startup taint removed")).toEqual([]);
  const hindrance = "another client keeps adding it";
  expect(play.status()[0]).toMatchObject({ present: true, hindrance, overdueAtMs: expect.any(Number) });
});

test.each([
  ["conflict", 5],
  ["forbidden", 1],
])("a removal that ends with %s is tried %i times at once", async (kind, patches) => {
  const play = createPlay(FOUGHT, UNLISTED);
  play.failure = { kind: "failed", doing: "", failure: { kind, message: "no" } };
  expect(await play.turn(FOUGHT, UNLISTED)).toBe(play.failure);
  expect(play.patches).toBe(patches);
  const hindrances = ["no", "CSINode does not list the driver"];
  expect(play.status()).toMatchObject(hindrances.map((hindrance) => ({ hindrance })));
});

test("a removal ends where the Node was made again, of which the watch will tell", async () => {
  const play = createPlay(FOUGHT);
  play.failure = { kind: "failed", doing: "", failure: { kind: "conflict", message: "no" } };
  play.remakeNode();
  await play.turn(FOUGHT);
  expect(play.patches).toBe(1);
});

test("each driver that CSINode lacks keeps its taint, with its own warning and short waits", async () => {
  const later = "later.csi.example.com";
  const play = createPlay(UNLISTED, later);
  for (let look = 0; look < 6; look += 1) await play.turn(UNLISTED);
  expect(await play.turn(UNLISTED, later)).toBe(200);
  for (let look = 0; look < 6; look += 1) await play.turn(UNLISTED, later);
  const warnings = play.log.records.filter(({ severity }) => severity === "warning");
  expect(warnings.map(({ fields }) => fields.csiDriverName)).toEqual([UNLISTED, later]);
  expect(play.status()[0]).toMatchObject({ present: true, hindrance: "CSINode does not list the driver" });
  expect(play.patches).toBe(0);
  play.lists(UNLISTED);
  await play.turn(UNLISTED, later);
  expect(play.patches).toBe(1);
});

test("while CSINode lacks the driver, 50 events of the Node cost no request, and a registration one", async () => {
  const play = createPlay(UNLISTED);
  await play.turn(UNLISTED);
  play.now -= 200;
  for (let event = 0; event < 50; event += 1) expect(await play.pass()).toBe(200);
  expect(play.reads).toBe(1);
  expect(play.status()).toMatchObject([{ hindrance: "CSINode does not list the driver" }]);
  play.lists(UNLISTED);
  await play.pass([registrationIn("registered", UNLISTED)]);
  expect([play.reads, play.patches]).toEqual([2, 1]);
});

test("a removal took no negative time where the clock was set back meanwhile", async () => {
  const patchNode = async () => done(nodeWith());
  const play = createKeeperPlay((log) => createTaintKeeper(WANTED, log, PACE), { patchNode });
  play.see(nodeWith({ taints: [{ key: `${FOUGHT}/agent-not-ready`, effect: "NoSchedule" }] }));
  play.lists(FOUGHT);
  play.registrations = [{ ...registrationIn("registered", FOUGHT), registeredAtMs: Date.now() + 60_000 }];
  await play.pass();
  expect(play.status()).toMatchObject([{ removals: 1, lastRemovalMs: 0 }]);
});
