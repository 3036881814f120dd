import fs, { mkdirSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { connect, Socket } from "node:net";
import { join } from "node:path";
import { systemError } from "../../../src/base/errors";
import { pairPatterns } from "../../../src/host-path/path-pattern";
import { createCounters } from "../../../src/registrar/model/counters";
import type { DriverStatus } from "../../../src/registrar/model/status";
import { answerProbes, askRegistrar } from "../../../src/registrar/node-wide/probe-socket";
import type { Registration } from "../../../src/registrar/registration/registration";
import { eachTest } from "../../support/each-test";
import { eventually } from "../../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../../support/foreign-socket";
import { PATIENCE_MS } from "../../support/history";
import { recordLog } from "../../support/recorded-log";
import { createTempFolder } from "../../support/temp-folder";

const folder = eachTest(createTempFolder);
const pairs = pairPatterns(["/two/*/s", "/one/*/s"], ["/host/two/*/s", "/host/one/*/s"]);
const whose = `${readlinkSync("/proc/self/ns/mnt")} /host/one/*/s /host/two/*/s`;
const sockets = () => readdirSync(folder.path).filter((name) => name.startsWith(".ask-"));
const ask = (...paths: readonly string[]) => askRegistrar(paths, pairs, PATIENCE_MS);

const registrationIn = (state: DriverStatus["state"], csiAddress: string) => {
  const status = { state, history: [], counters: createCounters().current } as unknown as DriverStatus;
  return { csiAddress, status: () => status } as unknown as Registration;
};

async function startAnswering(all: readonly Registration[] = []) {
  const log = recordLog();
  const stop = new AbortController();
  const at = { pluginRegistrationPath: folder.path, pairs };
  const over = answerProbes({ scope: "node-wide", all }, at, { log: log.logger, signal: stop.signal });
  const untilThere = () =>
    eventually(() => expect(sockets()).toEqual([expect.stringMatching(/^\.ask-\w{5}$/)]));
  await untilThere();
  return {
    log,
    untilThere,
    path: () => folder.at(sockets()[0] ?? ""),
    [Symbol.asyncDispose]: () => {
      stop.abort();
      return over;
    },
  };
}

test("tells which drivers are not registered, and each text is bounded", async () => {
  await leaveDeadSocket(folder.at(".ask-00000"));
  rmSync(folder.at(".ask-00000"));
  const all = [
    registrationIn("registered", "/a"),
    registrationIn("listening", `/${"b".repeat(600)}`),
    registrationIn("standby", "/c"),
  ];
  await using answering = await startAnswering(all);
  const { unregistered, ...rest } = await ask(answering.path());
  expect(rest).toEqual({ whose });
  expect(unregistered).toEqual([expect.stringMatching(/^\/b{470} \[cut, 645 characters in all\]$/)]);
});

test("lets a client go that stays, does not read, or fails", async () => {
  const limits = jest.spyOn(Socket.prototype, "setTimeout");
  await using answering = await startAnswering();
  connect({ path: answering.path(), allowHalfOpen: true }).unref().pause();
  const connection = await eventually(() => {
    expect(limits.mock.calls).toEqual([[5_000, expect.any(Function)]]);
    return limits.mock.contexts[0] as Socket;
  });
  await eventually(() => expect(connection.destroyed).toBe(true));
  const destroy = jest.spyOn(connection, "destroy");
  limits.mock.calls[0]?.[1]?.();
  connection.emit("error", new Error("EPIPE"));
  expect(destroy).toHaveBeenCalledTimes(2);
});

test("listens again where its socket or directory went, and leaves nothing", async () => {
  const answering = await startAnswering();
  rmSync(answering.path());
  await answering.untilThere();
  rmSync(folder.path, { recursive: true });
  const { severity, fields } = await answering.log.when("Cannot listen for exec probes, trying again");
  expect([severity, fields]).toEqual(["warning", { reason: expect.stringContaining("ENOENT") }]);
  mkdirSync(folder.path);
  await answering.untilThere();
  expect(await ask(answering.path())).toEqual({ whose, unregistered: [] });
  await answering[Symbol.asyncDispose]();
  expect(readdirSync(folder.path)).toEqual([]);
});

test("says that its socket could not be removed, and ends", async () => {
  const answering = await startAnswering();
  jest.spyOn(fs, "unlinkSync").mockImplementation(() => {
    throw systemError("EPERM");
  });
  await answering[Symbol.asyncDispose]();
  expect(answering.log.all("Cannot remove the socket for exec probes")).toMatchObject([
    { severity: "error" },
  ]);
});

test("only the registrar with these paths, in this container, is believed", async () => {
  await using answering = await startAnswering();
  await using _endless = await startForeignSocket(folder.at("endless"), (socket) => {
    const goOn = (): boolean => socket.write("1".repeat(65_536), (error) => error ?? setImmediate(goOn));
    goOn();
  });
  const failed = await ask(folder.at("endless")).catch((error) => error);
  expect(String(failed.errors)).toBe("Error: another registrar"); // Not that the time is over.
  const texts = ["null", JSON.stringify({ whose: `${whose} /z`, unregistered: [] })];
  await using _other = await startForeignSocket(folder.at("other"), (socket) =>
    socket.end(texts.shift() ?? ""),
  );
  for (const _text of [...texts]) await expect(ask(folder.at("other"))).rejects.toThrow(AggregateError);
  expect((await ask(folder.at("gone"), answering.path())).whose).toBe(whose);
});

test("the wait for an answer ends", async () => {
  await using _mute = await startForeignSocket(folder.at("mute"));
  await expect(askRegistrar([join(folder.path, "mute")], pairs, 20)).rejects.toThrow(AggregateError);
});
