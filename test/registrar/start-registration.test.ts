import { lstatSync, readdirSync } from "node:fs";
import type { RegistrationOptions } from "../../src/registrar/model/library-options";
import { startNodeRegistrar } from "../../src/registrar/start-node-registrar";
import { startRegistration } from "../../src/registrar/start-registration";
import { registerOnce } from "../support/dial-registration";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { recordLog } from "../support/recorded-log";
import { createTestNode, ENDPOINT, PLUGIN_INFO } from "../support/registrar-node";
import { expectNothingLeft } from "../support/resources";
import { startScriptedDriver } from "../support/scripted-driver";

const node = eachTest(createTestNode);

const name = "x.csi";
type CsiOptions = Extract<RegistrationOptions, { readonly type?: "CSIPlugin" | undefined }>;
const start = (options: Partial<CsiOptions> = {}, signal?: AbortSignal) => {
  const { pluginRegistrationPath } = node;
  return startRegistration({ name, endpoint: ENDPOINT, pluginRegistrationPath, ...options, signal });
};
const files = () => readdirSync(node.pluginRegistrationPath);

test("resolves when kubelet finds the socket, and is ready when kubelet has registered the driver", async () => {
  await using registration = await start();
  const { pluginRegistrationPath } = node;
  const named: { readonly name: string } = registration; // Not perhaps undefined.
  expect(named).toMatchObject({ name, endpoint: ENDPOINT, pluginRegistrationPath });
  expect(lstatSync(node.socketPath(name)).isSocket()).toBe(true);

  expect(await registerOnce(node.socketPath(name))).toEqual(PLUGIN_INFO);

  await registration.ready;
  (registration.status().history as unknown[]).pop();
  expect(registration.status()).toMatchObject({
    state: "registered",
    history: [{ to: "publishing" }, { to: "listening" }, { to: "asked" }, { to: "registered" }],
    registrationSocketPath: node.socketPath(name),
    counters: { getInfoCalls: 1, accepted: 1 },
  });
  // The check has a second, of which a busy machine may give it none.
  await eventually(async () => expect(await registration.selfCheck()).toEqual({ kind: "ok" }));
});

test("a driver whose name looks like another one's alias keeps its socket when the other one starts", async () => {
  await using alike = await start({ name: "x.csi-_abc" });
  await registerOnce(node.socketPath("x.csi-_abc"));
  await alike.ready;
  await using _other = await start();
  expect(new Set(node.visibleFiles())).toEqual(new Set(["x.csi-_abc-reg.sock", "x.csi-reg.sock"]));
  expect(await registerOnce(node.socketPath("x.csi-_abc"))).toMatchObject({ name: "x.csi-_abc" });
  expect(alike.status().state).toBe("registered");
});

test.each<[Partial<CsiOptions>, string, string]>([
  [{ name: "../evil" }, "UNSAFE_DRIVER_NAME", "it contains '/'"],
  [{ pluginRegistrationPath: "/none/here" }, "SOCKET_UNUSABLE", "ENOENT: the directory does not exist"],
  [{ name: undefined as unknown as string }, "INVALID_OPTION", "name is missing"],
  [{ endpoint: "csi.sock" }, "INVALID_OPTION", 'endpoint is "csi.sock"; it takes'],
  [{ endpoint: undefined as unknown as string }, "INVALID_OPTION", "endpoint is missing"],
])("with %j nothing is started: %s", (options, code, message) =>
  expectNothingLeft(async () => {
    await expect(start(options)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    expect(files()).toEqual([]);
  }),
);

describe("ready", () => {
  test("rejects with kubelet's words after a refusal, when everything has ended", () =>
    expectNothingLeft(async () => {
      const registration = await start({ onRegistrationFailure: "end" });
      const states: string[] = [];
      const telling = (async () => {
        for await (const { change } of registration.iterate("state-changed")) states.push(change.to);
      })();
      await registerOnce(node.socketPath(name), "no such\u202e node");
      await expect(registration.ready).rejects.toMatchObject({
        code: "REFUSED",
        message: String.raw`kubelet refused the driver: no such\u202e node`,
      });
      expect(await registration.closed).toMatchObject({
        kind: "refused",
        kubeletError: "no such\u202e node",
        error: { code: "REFUSED" },
      });
      await telling;
      expect(states).toEqual(["asked", "refused", "stopping", "stopped"]);
      expect(files()).toEqual([]);
    }));

  test("stays pending over a refusal that is tried again", async () => {
    await using registration = await start();
    const again = new Promise<string>((resolve) =>
      registration.subscribe("published", ({ socketPath }) => resolve(socketPath)),
    );
    await registerOnce(node.socketPath(name), "not yet");
    await registerOnce(await again);
    await registration.ready;
  });
});

test.each([true, false])("an end that no caller awaits is a process warning: %j", async (waits) => {
  const warned = jest.spyOn(process, "emitWarning").mockReturnValue();
  const registration = await start({ onRegistrationFailure: "end" });
  const closed = waits ? registration.closed : Promise.resolve();
  await registerOnce(node.socketPath(name), "no room");
  await closed;
  await eventually(() => expect(registration.status().outcome).toMatchObject({ kind: "refused" }));
  const warning = expect.objectContaining({
    code: "REFUSED",
    message: "kubelet refused the driver: no room",
  });
  await eventually(() => expect(warned.mock.calls).toEqual(waits ? [] : [[warning]]));
  warned.mockRestore();
});

test("its first refusal is one line on stderr without a logger", async () => {
  const warned = jest.spyOn(process, "emitWarning").mockReturnValue();
  await using registration = await start();
  const paths = registration.iterate("published");
  await registerOnce(node.socketPath(name), "no\nroom");
  await registerOnce((await paths.next()).value.socketPath, "still none");
  await paths.next();
  const text = expect.stringMatching(/^Kubelet refused the driver; no\\nroom; attempt: 1; retryIn: \d\S+$/);
  expect(warned.mock.calls).toEqual([[text, { type: "RegistrarWarning" }]]);
  warned.mockRestore();
});

test("rejects when the registration ends before kubelet calls, and nothing is left", () =>
  expectNothingLeft(async () => {
    const stop = new AbortController();
    const cause = new Error("the node is drained");
    const registration = await start({}, stop.signal);
    stop.abort(cause);
    await expect(registration.ready).rejects.toMatchObject({ code: "ABORTED", cause });
    expect(await registration.closed).toEqual({ kind: "stopped" });
    expect(files()).toEqual([]);
  }));

test("startRegistration rejects with ABORTED when its signal ends the start, or has before", () =>
  expectNothingLeft(async () => {
    const stop = new AbortController();
    const starting = start({}, stop.signal);
    stop.abort();
    const message = "the registration was stopped before it started";
    await expect(starting).rejects.toMatchObject({ code: "ABORTED", message });
    await expect(start({}, stop.signal)).rejects.toMatchObject({ code: "ABORTED", message });
    expect(files()).toEqual([]);
  }));

const FAILED = "A listener to events failed";

test("a listener's error does not stop the registration, and is logged", () =>
  expectNothingLeft(async () => {
    const log = recordLog();
    const first: unknown[] = [];
    const registration = await start({
      logger: log.logger,
      onEvent: (event) => {
        first.push("change" in event ? event.change.to : event.kind);
        throw new Error("the disk is full");
      },
    });
    // It misses none, while `subscribe` begins when the socket is in place.
    expect(first).toEqual(["publishing", "published", "listening"]);
    const looping = (async () => {
      for await (const { kind } of registration) throw new Error(`broken off at ${kind}`);
    })();
    await registerOnce(node.socketPath(name));
    await registration.ready;
    await expect(looping).rejects.toThrow("broken off at get-info");
    expect(await registration.close()).toEqual({ kind: "stopped" });
    expect(log.all(FAILED)[0]).toMatchObject({ severity: "error", fields: { event: "state-changed" } });
  }));

test("the same holds for a node's registrar, whose events end with it", () =>
  expectNothingLeft(async () => {
    await using _driver = await startScriptedDriver(node.csiAddress, { name });
    const log = recordLog();
    const registrar = await startNodeRegistrar({
      csiAddresses: [node.csiAddress],
      endpoints: [ENDPOINT],
      pluginRegistrationPath: node.pluginRegistrationPath,
      logger: log.logger,
      onEvent: async ({ registration }) => {
        throw new Error(registration.csiAddress);
      },
    });
    const seen: unknown[] = [];
    const looping = (async () => {
      for await (const { change, registration } of registrar.iterate("state-changed"))
        seen.push([registration.name, change.to]);
    })();
    registrar.subscribe("published", () => void registerOnce(node.socketPath(name)));
    await log.when("Registration state changed", 4);
    await registrar.close();
    await looping;
    expect(seen).toContainEqual([name, "registered"]);
    expect(log.all(FAILED)[0]?.error).toEqual(new Error(node.csiAddress));
  }));
