import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { systemError } from "../../../../src/base/errors";
import type { RegistrationContext } from "../../../../src/registrar/registration/context";
import { controlWaits } from "../../../support/controlled-waits";
import { dialRegistration } from "../../../support/dial-registration";
import { eachTest } from "../../../support/each-test";
import { eventually } from "../../../support/eventually";
import { failLooks } from "../../../support/failing-looks";
import { leaveDeadSocket, startForeignSocket } from "../../../support/foreign-socket";
import { identityOf } from "../../../support/identity-of";
import { recordLog } from "../../../support/recorded-log";
import type { startListening } from "../../../support/registrar-node";
import { stateNamed } from "../../../support/registration-states";

// Without its net, the poll every 5 s: everything must be noticed when it happens.
const waits = controlWaits({ fromMs: 300 });
const loading = import("../../../support/registrar-node");

const node = eachTest(async () => (await loading).createTestNode());
let started: Awaited<ReturnType<typeof startListening>>;
beforeEach(async () => {
  jest.spyOn(Math, "random").mockReturnValue(0); // A wait with a random share may be too short to be found.
  started = node.keep(await (await loading).startListening(node));
});

const publications = () => started.registrar.status().counters.publications;

/** Waits for this publication, and ends waits of up to `waitMs` until then. */
const expectPublished = (reason: string, waitMs: number) =>
  eventually(async () => {
    if (waits.pending().some((ms) => ms <= waitMs && ms > waitMs - 1_000)) await waits.end(waitMs);
    expect(publications()).toHaveProperty([reason], 1);
  });

/** Waits for this publication, then registers by it as kubelet would. */
async function expectHealed(reason: string): Promise<void> {
  await eventually(() => expect(publications()).toHaveProperty([reason], 1));
  await started.state("listening");
  await started.accept();
}

describe.each(["listening", "registered"])("in state %s", (state) => {
  beforeEach(async () => {
    if (state === "registered") await started.accept();
  });

  test.each<[string, reason: string, change: () => unknown]>([
    ["a socket that somebody removed", "socket-gone", () => rmSync(node.socketPath())],
    ["a dead socket in its place", "socket-dead", () => leaveDeadSocket(node.socketPath())],
    [
      "a folder that somebody removed and made anew",
      "directory-gone",
      () => {
        rmSync(node.pluginRegistrationPath, { recursive: true });
        mkdirSync(node.pluginRegistrationPath);
      },
    ],
    [
      "a folder that somebody moved away, and another in its place",
      "directory-gone",
      () => {
        mkdirSync(`${node.pluginRegistrationPath}-new`);
        renameSync(node.pluginRegistrationPath, `${node.pluginRegistrationPath}-old`);
        renameSync(`${node.pluginRegistrationPath}-new`, node.pluginRegistrationPath);
      },
    ],
  ])("%s: the socket is published again", async (_what, reason, change) => {
    await change();
    await expectHealed(reason);
  });

  test("a file at our path is left alone; once it is gone the socket is published", async () => {
    rmSync(node.socketPath());
    writeFileSync(node.socketPath(), "precious");
    // The file may come before the loss is noticed or after: either way this is where it leads.
    await started.log.when("Failed to listen on socket");
    expect(started.registrar.status().state).toBe("publishing");
    expect(readFileSync(node.socketPath(), "utf8")).toBe("precious");

    rmSync(node.socketPath());
    await expectHealed("socket-gone");
  });

  test("after another registrar removes our socket it has time to bind its own", async () => {
    rmSync(node.socketPath());
    await new Promise(setImmediate); // We have heard of it.
    await delay(20);
    const another = createServer().listen(node.socketPath());
    await once(another, "listening");
    await started.state("standby");
    another.close();
    await eventually(() => expect(publications()).toHaveProperty(["peer-gone"], 1));
  });

  test.each(["EIO", "ENOMEM", "EACCES"])(
    "looks that fail with %s give nothing up, said once",
    async (code) => {
      const path = node.socketPath();
      const message = "Cannot look at socket, it counts as unchanged";
      {
        using looks = failLooks(path, code);
        await eventually(() => {
          chmodSync(path, 0o700); // A hint.
          expect(looks.failed()).toBeGreaterThan(3); // One of them for the log.
        });
        await started.log.when(message);
      }
      const fields = { socketPath: path, found: "unreadable", err: systemError(code) };
      expect(started.log.all(message)).toEqual([expect.objectContaining({ fields })]);
      expect(publications()).toEqual({ "driver-named": 1 });
      rmSync(path);
      await expectHealed("socket-gone");
    },
  );

  test("another registrar's socket at our path is left alone", async () => {
    await using _theirs = await startForeignSocket(node.socketPath());
    const inode = identityOf(node.socketPath());
    await started.state("standby");
    await started.log.when("Standing by for the registrar that holds the socket");
    expect(identityOf(node.socketPath())).toBe(inode);
    expect(publications()).toEqual({ "driver-named": 1 });
  });
});

describe("a status that is lost", () => {
  test.each(["listening", "registered"])("is noticed in state %s, however often", async (state) => {
    if (state === "registered") await started.accept();
    for (const waitMs of [5_000, 10_000]) {
      const kubelet = await started.ask();
      await waits.end(150_000); // As long as kubelet is there, this is no loss.
      kubelet[Symbol.dispose]();
      await eventually(async () => {
        // In state listening it waits to move to another name.
        const isWaiting = started.registrar.status().state !== "listening";
        const ending = waits.pending().filter((ms) => isWaiting && ms <= waitMs);
        await Promise.all(ending.map(waits.end));
        expect(publications()).toHaveProperty(["status-lost"], waitMs / 5_000);
      });
      await started.state("listening");
    }
    expect(publications()).toMatchObject({ "driver-named": 1, "status-lost": 2 });
    expect(started.log.all("Kubelet reported no registration status, publishing again")).toHaveLength(2);
    await started.accept();
  });

  test("is not assumed for a stranger's connection, once kubelet is known by its authority", async () => {
    using kubelet = dialRegistration(node.socketPath(), "%2Fvar%2Freg%2Fx.csi-reg.sock");
    await kubelet.getInfo();
    await kubelet.notify();
    await started.state("registered");
    using stranger = dialRegistration(node.socketPath(), "localhost");
    expect((await stranger.getInfo()).name).toBe("x.csi");
    await started.log.when("GetInfo of a client that is not kubelet was answered");
    expect(started.registrar.status().counters.getInfoCalls).toBe(1);
    expect(started.registrar.reregister()).toBe(true);

    // Its socket has another name, and its release sends the raw path.
    await started.state("listening");
    using restarted = dialRegistration(node.socketPath(), "/var/reg/x.csi-_abc-reg.sock");
    await restarted.getInfo();
    await started.state("asked");
  });
});

describe.each([
  ["localhost", 0, 5_000],
  [undefined, 150_000, 150_000],
])("a client that may be kubelet and stays connected, with authority %j", (authority, goneMs, lostMs) => {
  let client: ReturnType<typeof dialRegistration>;
  beforeEach(async () => {
    client = dialRegistration(node.socketPath(), authority);
    await client.getInfo();
    await started.state("asked");
  });
  afterEach(() => client[Symbol.dispose]());

  test(`holds up a removed socket for ${goneMs} ms at most, however often it calls`, async () => {
    rmSync(node.socketPath());
    await client.getInfo();
    await expectPublished("socket-gone", goneMs);
  });

  test(`hides a lost status for ${lostMs} ms at most`, async () => {
    const kubelet = await started.ask();
    kubelet[Symbol.dispose]();
    await expectPublished("status-lost", lostMs);
  });
});

test("the watch of our socket waits with a random share, takes an early timer for due, and leaves no listener", async () => {
  const { createKubeletClients } = await import("../../../../src/registrar/registration/kubelet-clients");
  const { watchOurSocket } = await import("../../../../src/registrar/registration/states/in-place");
  let listeners = 0;
  const onEnd = () => {
    listeners += 1;
    return () => (listeners -= 1);
  };
  const watched: number[] = [];
  const wait = async (_signal: AbortSignal, ms: number) => {
    watched.push(ms);
    return false;
  };
  const context = {
    options: started.registrar,
    log: recordLog().logger,
    socket: { look: async () => "ours" },
    kubelet: { ...createKubeletClients(), onEnd },
    watchAt: async () => ({ hint: () => {}, wait }),
  } as unknown as RegistrationContext;
  jest.spyOn(Math, "random").mockReturnValue(0.5);
  jest.spyOn(performance, "now").mockReturnValue(1_000);
  const end = await watchOurSocket(stateNamed("asked"), context, new AbortController().signal);
  expect([end, watched, listeners]).toEqual([{ kind: "status-lost" }, [4_500], 0]);
});

test("a status counts as missing from kubelet's question on, in whatever state since then", async () => {
  const { remindOfMissingStatus } = await import("../../../../src/registrar/registration/states/in-place");
  jest.spyOn(performance, "now").mockReturnValue(100_000);
  const stop = new AbortController();
  const context = { log: recordLog().logger } as unknown as RegistrationContext;
  const reminding = remindOfMissingStatus({ ...stateNamed("asked"), askedAtMs: 1_000 }, context, stop.signal);
  expect(waits.pending()).toContain(51_000);
  stop.abort();
  await reminding;
});
