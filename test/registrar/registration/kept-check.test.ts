import { spawnSync } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createGrpcServer } from "../../../src/grpc/server";
import { resolveOptions } from "../../../src/registrar/model/library-options";
import {
  createRegistrationService,
  type RegistrationCalls,
} from "../../../src/registrar/registration/registration-service";
import { checkRegistrationSocket, createKeptAsk } from "../../../src/registrar/registration/self-check";
import { createSocketFile } from "../../../src/unix/socket-file";
import { eachTest } from "../../support/each-test";
import { eventually } from "../../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../../support/foreign-socket";
import { mayMount } from "../../support/hanging-mount";
import { recordLog } from "../../support/recorded-log";
import { createTestNode } from "../../support/registrar-node";

const NAME = "x.csi";
const PUBLISHING = { overLiving: false, signal: new AbortController().signal };
const node = eachTest(createTestNode);

/** A registration socket without the loop that would repair it, checked as a registration checks its own. */
async function publish(keepMs?: number) {
  const { logger } = recordLog();
  const calls = {
    report: () => ({ name: NAME, report: { state: "registered" } }),
    onEnd: () => {},
  } as unknown as RegistrationCalls;
  const newServer = createRegistrationService(resolveOptions(node.options), calls, logger);
  const server = node.keep(createGrpcServer({ log: logger, newServer }));
  const socket = createSocketFile(server.accept, logger);
  node.keep({ [Symbol.asyncDispose]: socket.withdraw });
  const path = node.socketPath(NAME);
  await socket.publish(path, PUBLISHING);
  await eventually(() => expect(lstatSync(path).nlink).toBe(1)); // Its other name goes, and with it the ctime.
  const ask = createKeptAsk(socket.publicationOf, { keepMs });
  const check = (name = NAME, timeoutMs = 10_000) => checkRegistrationSocket(path, name, timeoutMs, ask);
  return { path, server, socket, check };
}
type Published = Awaited<ReturnType<typeof publish>>;

test("checks share one connection while the file is the same", async () => {
  const accepted: Socket[] = [];
  const note = (message: unknown) => accepted.push((message as { readonly socket: Socket }).socket);
  subscribe("net.server.socket", note);
  try {
    const { check, path, server } = await publish();
    const ok = { kind: "ok" };
    for (let count = 0; count < 3; count++) expect(await check()).toEqual(ok);
    expect(accepted.length).toBe(1);
    expect(server).toMatchObject({ connections: { open: 1 } });
    expect(await check("y.csi")).toEqual({ kind: "wrong", text: `invalid driver name ${NAME}` });

    // Who may dial it may have changed.
    chmodSync(path, 0o600);
    expect(await check()).toEqual(ok);
    expect(accepted.length).toBe(2);

    // As the server does when there are too many.
    accepted.at(-1)?.destroy();
    expect(await check()).toEqual(ok);
    expect(accepted.length).toBe(3);
  } finally {
    unsubscribe("net.server.socket", note);
  }
});

test("a check whose kept connection is mute has only the rest of its time for another one", async () => {
  const accepted: Socket[] = [];
  let isMute = false;
  const note = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket };
    accepted.push(isMute ? socket.pause() : socket);
  };
  subscribe("net.server.socket", note);
  try {
    const { check } = await publish(600_000);
    expect(await check()).toEqual({ kind: "ok" });
    isMute = true;
    for (const socket of accepted) socket.pause();
    const { text } = Object(await check(NAME, 300));
    expect(text).toMatch(/DEADLINE_EXCEEDED/);
    expect(text).not.toMatch(/after (0\.3s|-)/);
  } finally {
    unsubscribe("net.server.socket", note);
  }
});

test("a connection that no check uses any more is closed, also of checks at the same time", async () => {
  const { check, server } = await publish(1);
  expect(await Promise.all([check(), check()])).toEqual([{ kind: "ok" }, { kind: "ok" }]);
  await eventually(() => expect(server.connections.open).toBe(0));
});

test("a connection that checks use is kept", async () => {
  const keepMs = 400;
  const { check, server } = await publish(keepMs);
  /** For longer than the connection is kept; false: on a busy machine one came too late. */
  const checkOften = async () => {
    const beganAt = performance.now();
    for (let lastAt = beganAt; lastAt - beganAt < 1.5 * keepMs; lastAt = performance.now()) {
      await delay(keepMs / 8);
      expect(await check()).toEqual({ kind: "ok" });
      if (performance.now() - lastAt > keepMs / 2) return false;
    }
    return true;
  };
  let accepted: number;
  do {
    await check();
    ({ accepted } = server.connections);
  } while (!(await checkOften()));
  expect(server.connections.accepted).toBe(accepted);
});

test.each<[string, (published: Published) => Promise<unknown>]>([
  ["hidden", ({ socket }) => socket.hide()],
  ["withdrawn", ({ socket }) => socket.withdraw()],
  ["replaced", ({ socket, path }) => socket.publish(path, PUBLISHING)],
])("the connection of the last check ends when the socket is %s", async (_how, end) => {
  const published = await publish(600_000);
  expect(await published.check()).toEqual({ kind: "ok" });
  await end(published);
  await eventually(() => expect(published.server.connections.open).toBe(0));
});

test("the connection to another registrar's socket ends with its check", async () => {
  const { path, check } = await publish();
  rmSync(path);
  const foreign = node.keep(await startForeignSocket(path));
  await check(NAME, 200);
  expect(foreign.connections()).toBe(1);
  await eventually(() => expect(foreign.openConnections()).toBe(0));
});

const MISSING = /^registration socket does not exist$/;
const NOT_A_SOCKET = /^file exists in socketPath .+ but it's not a socket$/;
const NO_INFO = /^error getting info from node-registrar socket: /;
const another = async (published: Published, start: (path: string) => unknown) => {
  rmSync(published.path);
  await start(published.path);
};

const CASES: [string, (published: Published) => unknown, RegExp][] = [
  ["is removed", ({ path }) => rmSync(path), MISSING],
  ["is withdrawn", ({ socket }) => socket.withdraw(), MISSING],
  ["has no listener any more", ({ socket }) => socket.server?.close(), NO_INFO],
  ["has a server that ends", ({ server }) => server.close(), NO_INFO],
  [
    "is another driver's",
    (all) => another(all, () => node.plugin({ info: { name: "y.csi" } })),
    /driver name y/,
  ],
  ["is dead", (all) => another(all, leaveDeadSocket), NO_INFO],
  [
    "is another's that hangs",
    (all) => another(all, async (path) => node.keep(await startForeignSocket(path))),
    /DEADLINE_EXCEEDED/,
  ],
  ["is a file", (all) => another(all, (path) => writeFileSync(path, "")), NOT_A_SOCKET],
  ["is a folder", (all) => another(all, mkdirSync), NOT_A_SOCKET],
  [
    "is a link to ours",
    ({ path }) => {
      renameSync(path, `${path}~`);
      symlinkSync(`${path}~`, path);
    },
    NOT_A_SOCKET,
  ],
  [
    "is in a directory that was moved away",
    ({ path }) => renameSync(dirname(path), `${dirname(path)}~`),
    MISSING,
  ],
  [
    "is in a directory that was moved away, where a file is now",
    ({ path }) => {
      renameSync(dirname(path), `${dirname(path)}~`);
      writeFileSync(dirname(path), "");
    },
    /^failed to stat the socket .+ with error: ENOTDIR/,
  ],
];
if (mayMount())
  CASES.push([
    "is in a directory that was mounted over",
    ({ path }) => {
      const directory = dirname(path);
      spawnSync("mount", ["-t", "tmpfs", "none", directory]);
      node.keep({ [Symbol.asyncDispose]: async () => void spawnSync("umount", [directory]) });
    },
    MISSING,
  ]);

test.each(CASES)("a kept connection does not hide that the socket %s", async (_what, breakIt, text) => {
  const published = await publish(600_000);
  const { check } = published;
  expect(await check()).toEqual({ kind: "ok" });
  await breakIt(published);
  expect(await check(NAME, text.source.startsWith("DEADLINE") ? 200 : undefined)).toEqual({
    kind: text === MISSING ? "missing" : "wrong",
    text: expect.stringMatching(text),
  });
});
