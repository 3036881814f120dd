import fs, { rmSync, utimesSync } from "node:fs";
import { createServer } from "node:http2";
import type { Socket } from "node:net";
import { join } from "node:path";
import { systemError } from "../../../../src/base/errors";
import { LONGEST_WAIT_MS } from "../../../../src/base/pause";
import type { LoopEvent } from "../../../../src/registrar/model/state";
import type { RegistrationContext } from "../../../../src/registrar/registration/context";
import { tryConnect } from "../../../../src/unix/unix-socket";
import { startFakeRegistrar } from "../../../simulator/fake-registrar";
import { controlWaits } from "../../../support/controlled-waits";
import { registerOnce } from "../../../support/dial-registration";
import { eachTest } from "../../../support/each-test";
import { eventually } from "../../../support/eventually";
import { type ForeignSocket, leaveDeadSocket, startForeignSocket } from "../../../support/foreign-socket";
import { identityOf } from "../../../support/identity-of";
import { createOwnedSocket } from "../../../support/owned-socket";
import { recordLog } from "../../../support/recorded-log";
import { stateNamed } from "../../../support/registration-states";

// Without its net, the poll every 5 s: everything must be noticed when it happens.
const waits = controlWaits({ fromMs: 300 });
const loading = import("../../../support/registrar-node");

/** The look at all directories of the process. */
const LOOK_EVERY_MS = 5_000;
/** The wait until it asks a mute holder of its place again. */
const ASK_AGAIN_MS = 10_000;
/** The wait until it sees whether the holder of the socket answers. */
const ASK_HOLDER_MS = 15_000;
/** How long it looks for no peer again that it cannot find. */
const UNSEEN_PEER_MS = 30_000;
/** More connections than a registrar that stands by makes before it waits. */
const MANY = 10;
const name = "x.csi";
const node = eachTest(async () => (await loading).createTestNode());

const retry = { onRegistrationFailure: "retry" } as const;
const PEER_ERROR =
  'kubernetes.io/csi: ValidatePlugin for CSI driver "x.csi" failed. Another driver with the same name is already ' +
  'registered with a higher supported version: "1.0.0"';

/** A registrar that stands by for `peer`, which has taken its path. */
async function standBy(onConnection?: (socket: Socket) => void) {
  const started = await (await loading).startListening(node);
  const peer = await startForeignSocket(node.socketPath(), onConnection);
  await started.log.when("Standing by for the registrar that holds the socket");
  return { started, peer };
}

test.each<[string, (peer: ForeignSocket) => Promise<void>]>([
  ["was killed, and its file is still there", (peer) => peer.kill()],
  ["has removed its file and lives on", async () => rmSync(node.socketPath())],
])("takes over when the peer %s", async (_what, end) => {
  const { started, peer } = await standBy();
  const peers = identityOf(node.socketPath());
  await end(peer);
  await started.state("listening");
  expect(identityOf(node.socketPath())).not.toBe(peers);
  expect((await registerOnce(node.socketPath())).name).toBe(name);
  await started.state("registered");
  expect(started.registrar.status().counters).toMatchObject({
    takeovers: 1,
    publications: { "peer-gone": 1 },
  });
  await started[Symbol.asyncDispose]();
  await peer.kill();
});

test("takes over when a peer ends that had sent something", async () => {
  const said: Promise<unknown>[] = [];
  const { started, peer } = await standBy((socket) => {
    said.push(new Promise((resolve) => socket.write("a server's first words", resolve)));
  });
  expect(await nextWait()).toBe(LONGEST_WAIT_MS); // It holds a connection, with the words in it as soon as another is through.
  await Promise.all(said);
  expect(await tryConnect(node.socketPath())).toBeUndefined();
  await peer.kill();
  await started.state("listening");
  await started[Symbol.asyncDispose]();
});

const held = () => waits.pending().filter((ms) => ms !== LOOK_EVERY_MS && ms !== ASK_HOLDER_MS);

/** The wait of the state, as soon as there is one: besides, there is that for the end of the driver's socket. */
const nextWait = async () => {
  await eventually(() => expect(held()).toHaveLength(2));
  return Math.min(...held());
};

test("dials a peer that hangs up at growing distances", async () => {
  await using started = await (await loading).startListening(node);
  await using rude = await startForeignSocket(node.socketPath(), (socket) => socket.destroy());
  await started.state("standby");
  // A look, and a connection that is cut: then it looks once more, and waits.
  const isPausing = () => held().some((ms) => ms < LOOK_EVERY_MS);
  await eventually(() => expect(isPausing() || rude.connections() > MANY).toBe(true));
  expect(rude.connections()).toBeLessThan(MANY);
  const before = rude.connections();
  const waitMs = await nextWait();
  expect(waitMs).toBeLessThanOrEqual(500);
  await waits.end(waitMs);
  await eventually(() => expect(rude.connections()).toBeGreaterThan(before));
});

test("leaves a peer that keeps our connection alone until something happens", async () => {
  const { started, peer } = await standBy();
  expect(await nextWait()).toBe(LONGEST_WAIT_MS);
  const before = peer.connections();
  utimesSync(node.socketPath(), new Date(), new Date()); // It looks at once.
  await eventually(() => expect(peer.connections()).toBeGreaterThan(before));
  // That it has ended its own connection is no news of the peer.
  let rounds = 0;
  const settle = async () => {
    for (let ms = await nextWait(); ms < LONGEST_WAIT_MS; ms = await nextWait()) {
      await waits.end(ms);
      rounds += 1;
      expect(rounds).toBeLessThan(MANY);
    }
  };
  await settle();
  // What ends each wait at once does so while these take their time; an event of the file may be late.
  for (let look = 0; look < MANY; look++) {
    expect(await tryConnect(node.socketPath())).toBeUndefined();
    await settle();
  }
  expect(started.registrar.status().history.map(({ reason }) => reason)).not.toContain("peer-gone");
  await eventually(() => expect(peer.openConnections()).toBe(1)); // The last: each look ends the one before.
  await started[Symbol.asyncDispose]();
  await peer.kill();
});

test("warns once while the holder accepts connections and does not answer, and tells when it does again", async () => {
  const [mute, answers] = [
    "The registrar that holds the socket accepts connections and does not answer",
    "The registrar that holds the socket answers again",
  ];
  await using started = await (await loading).startListening(node, { timeoutMs: 300 });
  const server = createServer();
  let isFrozen = false;
  await using holder = await startForeignSocket(node.socketPath(), (socket) => {
    if (!isFrozen) server.emit("connection", socket);
  });
  await started.log.when("Standing by for the registrar that holds the socket");
  const ask = async () => {
    const before = holder.connections();
    await waits.end(ASK_HOLDER_MS);
    await eventually(() => expect(holder.connections()).toBeGreaterThan(before));
  };
  for (const frozen of [false, true, false, true, true, true]) {
    isFrozen = frozen;
    await ask();
  }
  const line = await started.log.when(mute);
  const check =
    "which process listens there, and is it stopped, frozen or out of CPU? End its pod: then this one takes over";
  expect([line.severity, line.fields]).toEqual(["warning", { socketPath: node.socketPath(), check }]);
  isFrozen = false;
  await ask();
  await started.log.when(answers);
  await eventually(() => expect(waits.pending()).toContain(ASK_HOLDER_MS));
  for (const message of [mute, answers]) expect(started.log.all(message)).toHaveLength(1);
  await eventually(() => expect(holder.openConnections()).toBe(1)); // The one by which it notices the end.
  expect(started.registrar.status().state).toBe("standby");
});

test("ends when a holder that hung says that it is the registrar of a driver whose name looks like an alias", async () => {
  await using started = await (await loading).startListening(node, { timeoutMs: 300 });
  const neighbour = "x.csi-_abc";
  let answer = () => {};
  const answering = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await using holder = await startFakeRegistrar({
    socketPath: node.socketPath(neighbour),
    info: { name: neighbour },
    before: () => answering,
  });
  rmSync(node.socketPath());
  const line = await started.log.when("Standing by for the registrar that holds the socket");
  expect(line.fields).toEqual({ socketPath: node.socketPath(neighbour) });
  await waits.end(ASK_AGAIN_MS); // It hangs still, and is asked once more.
  await eventually(() => expect(held()).toContain(ASK_AGAIN_MS));
  answer();
  await waits.end(ASK_AGAIN_MS);
  await started.state("listening");
  expect(started.registrar.status().registrationSocketPath).toBe(node.socketPath());
  expect(await tryConnect(node.socketPath(neighbour))).toBeUndefined();
  await holder.close();
});

test("a holder that says that it is the driver's registrar is asked nothing more", async () => {
  await using started = await (await loading).startListening(node, { timeoutMs: 300 });
  await using holder = await startFakeRegistrar({
    socketPath: node.socketPath("x.csi-_abc"),
    info: { name },
  });
  rmSync(node.socketPath());
  await started.log.when("Standing by for the registrar that holds the socket");
  await waits.end(ASK_AGAIN_MS);
  await eventually(() => expect(held()).not.toContain(ASK_AGAIN_MS));
  for (let look = 0; look < 3; look++)
    expect(await tryConnect(node.socketPath("x.csi-_abc"))).toBeUndefined();
  expect(held()).not.toContain(ASK_AGAIN_MS);
  expect(started.registrar.status().state).toBe("standby");
  await holder.close();
});

test("where kubelet has the driver by another socket, nobody is asked whose our place is", async () => {
  const { askHolder } = await import("../../../../src/registrar/registration/states/standby");
  const state = stateNamed("standby");
  const given = { ...state, reason: "already-registered", facts: { ...state.facts, alias: "x.csi-_abc" } };
  const stop = new AbortController();
  const asking = askHolder(given as never, {} as never, stop.signal);
  expect(held()).not.toContain(ASK_AGAIN_MS);
  stop.abort();
  expect(await asking).toBeUndefined();
});

/** State `standby` alone, with this socket: resolves with its end. */
async function standAlone(
  socket: Pick<ReturnType<typeof createOwnedSocket>, "look" | "withdraw">,
  log = recordLog(),
  {
    reason = "socket-taken",
    signal = new AbortController().signal,
    alias = undefined as string | undefined,
  } = {},
) {
  const { standBy: standByFor } = await import("../../../../src/registrar/registration/states/standby");
  const options = {
    pluginRegistrationPath: node.pluginRegistrationPath,
    timeoutMs: 600_000,
    type: "CSIPlugin",
  };
  const context = { options, log: log.logger, socket } as unknown as RegistrationContext;
  const state = stateNamed("standby");
  return standByFor({ ...state, reason, facts: { ...state.facts, alias } } as never, context, signal);
}

test("tries again later where the directory cannot be read after the wait for a peer", async () => {
  await using socket = createOwnedSocket();
  const standing = standAlone(socket, recordLog(), { reason: "already-registered" });
  await eventually(() => expect(held()).toContain(UNSEEN_PEER_MS));
  jest.spyOn(fs.promises, "readdir").mockRejectedValue(systemError("EIO"));
  await waits.end(UNSEEN_PEER_MS);
  expect(await standing).toEqual({ kind: "peer-gone", alias: undefined });
  jest.restoreAllMocks();
});

test("ends while it waits for a peer that it cannot find", async () => {
  await using socket = createOwnedSocket();
  const stop = new AbortController();
  const standing = standAlone(socket, recordLog(), { reason: "already-registered", signal: stop.signal });
  await eventually(() => expect(held()).toContain(UNSEEN_PEER_MS));
  const readdir = jest.spyOn(fs.promises, "readdir");
  stop.abort();
  expect(await standing).toBeUndefined();
  expect(readdir).not.toHaveBeenCalled();
});

test.each([
  ["about the place that it has", "x.csi-_abc"],
  ["whether it is the driver's", undefined],
])("ends while it asks a mute registrar %s", async (_what, alias) => {
  await using socket = createOwnedSocket();
  const stop = new AbortController();
  await using mute = await startForeignSocket(node.socketPath("x.csi-_abc"));
  const standing = standAlone(socket, recordLog(), { signal: stop.signal, alias });
  await eventually(() => expect(mute.openConnections()).toBe(1));
  stop.abort();
  expect(await standing).toBeUndefined();
});

test("a peer that had taken our place and is gone by now is not waited for", async () => {
  await using socket = createOwnedSocket();
  let end: LoopEvent | undefined;
  void standAlone(socket).then((event) => {
    end = event;
  });
  await eventually(() => expect(end !== undefined || held().length > 0).toBe(true));
  expect(end).toEqual({ kind: "peer-gone", alias: undefined });
});

test("a socket that cannot be removed is tried again", async () => {
  await using socket = createOwnedSocket();
  const log = recordLog();
  const withdraw = jest.fn().mockRejectedValueOnce(new Error("EROFS: read-only file system"));
  const standing = standAlone({ ...socket, withdraw }, log);
  await log.when("Failed to remove socket with error, trying again");
  await eventually(() => expect(held()).toHaveLength(1)); // Not at once.
  for (const ms of held()) await waits.end(ms);
  expect(await standing).toEqual({ kind: "peer-gone", alias: undefined });
  expect(withdraw).toHaveBeenCalledTimes(2);
});

describe("kubelet says that the driver is registered already", () => {
  test("under another path: our socket goes, and comes back when the peer has gone", async () => {
    const peer = await startFakeRegistrar({ socketPath: node.socketPath("other"), info: { name } });
    await using started = await (await loading).startListening(node, retry);
    await registerOnce(node.socketPath(), PEER_ERROR);

    const line = await started.log.when("Standing by for the registrar that holds the socket");
    expect(line.fields).toEqual({ socketPath: node.socketPath("other") });
    expect(node.visibleFiles()).toEqual(["other-reg.sock"]);
    expect(started.registrar.status().state).toBe("standby");

    await peer.crash();
    await started.state("listening");
    await started.accept();
  });

  test("another driver's socket is not a peer, nor that of another type, a hidden one, or a mute one", async () => {
    const others = await Promise.all([
      startFakeRegistrar({ socketPath: node.socketPath("a"), info: { name: "other.csi" } }),
      startFakeRegistrar({ socketPath: node.socketPath("c"), info: { name, type: "DRAPlugin" } }),
      // A registrar of the driver that kubelet has refused: kubelet cannot have registered it by a hidden name.
      startFakeRegistrar({ socketPath: join(node.pluginRegistrationPath, ".out-a1b2c"), info: { name } }),
    ]);
    await using _mute = await startForeignSocket(node.socketPath("b"));
    await using started = await (await loading).startListening(node, { ...retry, timeoutMs: 1_000 });
    await registerOnce(node.socketPath(), PEER_ERROR);
    await started.log.when(
      "Kubelet has, or is registering, the driver by a socket that cannot be found, trying again later",
    );
    expect(started.registrar.status().state).toBe("standby");
    expect(await started.registrar.selfCheck()).toEqual({ kind: "ok" });
    // Nor is one of these the dead socket by which kubelet may have it; after a wait, that one is where we publish.
    expect(node.visibleFiles()).not.toContain("x.csi-reg.sock");
    await leaveDeadSocket(node.socketPath("x.csi-_abc"));
    await eventually(() => expect(held()).toContain(UNSEEN_PEER_MS));
    await waits.end(UNSEEN_PEER_MS);
    await started.state("listening");
    expect(await tryConnect(node.socketPath("x.csi-_abc"))).toBeUndefined();
    expect(node.visibleFiles()).not.toContain("x.csi-reg.sock");
    for (const other of others) await other.close();
  });
});
