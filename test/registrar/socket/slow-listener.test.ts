import { rmSync } from "node:fs";
import { silentLogger } from "../../../src/logging/logger";
import { leaveDeadSocket, startForeignSocket } from "../../support/foreign-socket";
import { createTempFolder } from "../../support/temp-folder";

/** A registration socket beside a dead one at `path`; each of its waits ends by hand. */
async function startBesideDeadSocket() {
  const folder = await createTempFolder();
  const path = folder.at("x.csi-reg.sock");
  await leaveDeadSocket(path);
  const waits: (() => void)[] = [];
  const wait = () => new Promise<void>((resolve) => waits.push(resolve));
  jest.resetModules();
  jest.doMock("node:timers/promises", () => ({ setTimeout: wait }));
  const { createRegistrationSocket } = await import("../../../src/registrar/socket/registration-socket");
  const waiting = async () => {
    while (waits.length === 0) await new Promise(setImmediate);
  };
  const pass = async () => {
    await waiting();
    waits.shift()?.();
  };
  const socket = createRegistrationSocket(() => {}, silentLogger);
  return { ...folder, path, socket, waiting, pass };
}

test("a socket that is bound and on which somebody listens a moment later is not taken for dead", async () => {
  await using beside = await startBesideDeadSocket();
  const looking = beside.socket.look(beside.path);
  await beside.waiting();
  await using _living = await startForeignSocket(beside.path);
  await beside.pass();
  expect(await looking).toBe("taken");
});

test("of two registrars that find a dead socket, one replaces it", async () => {
  await using beside = await startBesideDeadSocket();
  const { signal } = new AbortController();
  const publishing = beside.socket.publish(beside.path, { overLiving: false, signal });
  await beside.pass();
  await beside.waiting();
  rmSync(beside.path);
  await using _other = await startForeignSocket(beside.path);
  await beside.pass();
  expect(await publishing).toBe("taken");
});
