import { CSI_NODE_PACE, createCsiNodeKeeper } from "../../src/node-readiness/csi-node-keeper";
import { done } from "../../src/node-readiness/node-api";
import type { ObservedRegistration } from "../../src/node-readiness/observed-registrations";
import { csiNodeOf, DRIVER, nodeWith, registrationIn } from "./support/controlled-registrations";
import { createKeeperPlay } from "./support/keeper-play";

const { lookEveryMs, graceMs } = CSI_NODE_PACE;
const ANEW = "CSINode lacks a driver that kubelet has registered, registering it again";
const OTHER = "other.csi.example.com";
const LISTED = { driverName: DRIVER, missedAtMs: undefined, deletedOwner: undefined, reregistrations: 0 };

/** A keeper whose time a test moves, beside a CSINode that it writes. */
function createPlay(random = 1) {
  const base = createKeeperPlay((log) => createCsiNodeKeeper(log, CSI_NODE_PACE, () => random));
  base.see(nodeWith());
  base.lists(DRIVER, OTHER);
  const { pass } = base;
  const play = Object.assign(base, {
    reregistered: [] as string[],
    kubeletIsAsking: false,
    states: (...states: readonly ObservedRegistration["state"][]) => {
      base.registrations = states.map((state, index) => registrationIn(state, index === 0 ? DRIVER : OTHER));
    },
    pass: () => {
      const reregister = (name: string) => !play.kubeletIsAsking && play.reregistered.push(name) > 0;
      return pass(
        base.registrations.map((one) => ({ ...one, reregister: () => reregister(one.driverName ?? "") })),
      );
    },
    /** Passes as they fall due, until so much time is over. */
    spend: async (ms: number) => {
      const end = base.now + ms;
      for (;;) {
        const next = await play.pass();
        if (typeof next !== "number" || base.now + next > end) break;
        base.now += next;
      }
      base.now = end;
    },
  });
  return play;
}

test("CSINode is first read after a random wait, so that nodes that start together do not read together", async () => {
  const play = createPlay();
  expect(await play.pass()).toBe(lookEveryMs);
  await play.spend(lookEveryMs - 1);
  expect(play.reads).toBe(0);
  await play.spend(10 * lookEveryMs);
  expect(play.reads).toBe(10);
  // Also after a time without a driver: kubelet has just written it.
  play.states("waiting");
  await play.spend(10 * lookEveryMs);
  play.states("registered");
  expect(await play.pass()).toBe(lookEveryMs);
  expect([play.reads, play.log.records]).toEqual([10, []]);
  expect(await createPlay(0).pass()).toBe(lookEveryMs / 2);
});

test("a driver that CSINode lacks for the grace is registered again, once, and the result is read", async () => {
  const play = createPlay();
  await play.pass();
  play.lists(OTHER);
  play.now += lookEveryMs;
  expect(await play.pass()).toBe(graceMs);
  expect(play.status()).toEqual([{ ...LISTED, missedAtMs: expect.any(Number) }]);
  expect(play.reregistered).toEqual([]);

  play.now += graceMs;
  expect(await play.pass()).toBe(graceMs);
  expect(play.reregistered).toEqual([DRIVER]);
  expect(play.log.all(ANEW).map(({ fields }) => fields)).toEqual([
    expect.objectContaining({ csiDriverName: DRIVER, lackingFor: `${graceMs / 1000}s`, times: 1 }),
  ]);

  play.lists(DRIVER, OTHER);
  play.now += graceMs;
  expect(await play.pass()).toBe(lookEveryMs);
  expect(play.log.all("CSINode lists the driver again")).toHaveLength(1);
  expect(play.status()).toEqual([{ ...LISTED, reregistrations: 1 }]);
  play.registrations = [];
  expect(play.status()).toEqual([]);
});

const minutes = (...pauses: readonly number[]) => pauses.map((pause) => pause * 60_000);

/** The pauses between the first so many times that the driver is registered anew from now on. */
async function pausesOf(play: ReturnType<typeof createPlay>, count: number): Promise<readonly number[]> {
  const before = play.reregistered.length;
  const times: number[] = [];
  while (times.length <= count) {
    const next = await play.pass();
    if (play.reregistered.length > before + times.length) times.push(play.now);
    play.now += Number(next);
  }
  return times.slice(1).map((at, index) => at - (times[index] ?? 0));
}

test("a driver that is never listed is registered again at growing distances, up to an hour", async () => {
  const play = createPlay(0);
  play.lists();
  expect(await pausesOf(play, 9)).toEqual(minutes(1, 2, 4, 8, 16, 32, 60, 60, 60));
});

test.each(["waiting", "publishing", "asked", "refused", "standby", "gone", "registered"] as const)(
  "a driver in state %s, or a missing Node, causes no read",
  async (state) => {
    const play = createPlay();
    play.lists();
    play.states(state);
    if (state === "registered") play.see(undefined);
    await play.spend(3 * lookEveryMs);
    expect([play.reads, play.reregistered]).toEqual([0, []]);
  },
);

test("while kubelet asks about the driver nothing is logged or counted, and the pace stays", async () => {
  const play = createPlay(0);
  play.lists();
  play.kubeletIsAsking = true;
  await play.spend(10 * lookEveryMs);
  expect(play.log.records).toEqual([]);
  expect(play.status()).toMatchObject([{ missedAtMs: expect.any(Number), reregistrations: 0 }]);
  play.kubeletIsAsking = false;
  expect(await pausesOf(play, 2)).toEqual(minutes(1, 2));
});

describe("a CSINode that belongs to a deleted Node (kubernetes#120063)", () => {
  const OF_DELETED = "CSINode belongs to a deleted Node of the same name, volumes cannot be attached";
  const HOUR_MS = 3_600_000;
  /** The Node is deleted and made again while its driver is registered; its CSINode stays until `collect`. */
  const replaceNode = async () => {
    const play = createPlay();
    play.answer = done(csiNodeOf([DRIVER, OTHER], "1"));
    await play.spend(2 * lookEveryMs);
    play.see(nodeWith({ uid: "2" }));
    return play;
  };

  test("is repaired by a registration after its collection, where kubelet reads the Node's UID again", async () => {
    const play = await replaceNode();
    await play.spend(3 * graceMs);
    expect(play.log.all(OF_DELETED)).toHaveLength(1);
    play.lists();
    await play.spend(graceMs);
    expect(play.reregistered).toEqual([DRIVER]);
    play.answer = done(csiNodeOf([DRIVER], "2"));
    await play.spend(graceMs);
    expect(play.status()).toMatchObject([{ deletedOwner: undefined, missedAtMs: undefined }]);
    expect(play.log.all("CSINode lists the driver again")).toHaveLength(1);
  });

  test("is repaired by one that lists the driver and names no owner", async () => {
    const play = await replaceNode();
    await play.spend(3 * graceMs);
    expect(play.status()).toMatchObject([{ deletedOwner: "1" }]);
    play.answer = done({ drivers: [DRIVER, OTHER], ownerUid: undefined });
    await play.spend(graceMs);
    expect(play.status()).toMatchObject([{ deletedOwner: undefined, missedAtMs: undefined }]);
  });

  test("is tried once an hour where kubelet writes the old UID again, and the log names kubelet's restart", async () => {
    const play = await replaceNode();
    play.lists();
    const tries: number[] = [];
    for (let passes = 0; tries.length < 4 && passes < 10_000; passes += 1) {
      const next = await play.pass();
      if (play.reregistered.length > tries.length) {
        tries.push(play.now);
        // Kubelet writes it, it is looked at once kubelet has registered the driver, and then collected.
        play.answer = done(csiNodeOf([DRIVER], "1"));
        play.states("publishing");
        await play.pass();
        const { reads } = play;
        play.states("registered");
        await play.pass();
        expect(play.reads).toBe(reads + 1);
        play.lists();
      } else play.now += Number(next);
    }
    expect(tries).toHaveLength(4);
    const pauses = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
    for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(HOUR_MS);
    expect(play.log.all(OF_DELETED).at(-1)?.fields.check).toMatch(/^restart kubelet/);
  });

  test("is tried anew without that hour where the Node was made once more", async () => {
    const play = await replaceNode();
    play.lists();
    await play.spend(lookEveryMs);
    expect(play.reregistered).toEqual([DRIVER]);
    play.see(nodeWith({ uid: "3" }));
    await play.spend(graceMs);
    expect(play.reregistered).toEqual([DRIVER, DRIVER]);
  });
});
