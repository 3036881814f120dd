import { EventEmitter, once } from "node:events";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import {
  getChannelzHandlers,
  Metadata,
  type Server,
  ServerInterceptingCall,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { callUnary, createUnixClient } from "../../src/grpc/client/unary";
import { protos } from "../../src/grpc/protos";
import type { RegistrationOutcome } from "../../src/registrar/model/outcome";
import type { ServedCsiDriverOptions } from "../../src/serving/options";
import { type ServedCsiDriver, serveCsiDriver } from "../../src/serving/serve-csi-driver";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { recordLog } from "../support/recorded-log";
import { createTestNode, DRIVER } from "../support/registrar-node";
import { expectNothingLeft } from "../support/resources";

const { identity, node: nodeService } = protos;

const node = eachTest(createTestNode);

type Answer = sendUnaryData<object>;
const Identity = {
  GetPluginInfo: (_call: unknown, answer: Answer) => answer(null, { name: DRIVER, vendorVersion: "1" }),
};
const addServices = (server: Server) => {
  server.addService(identity, Identity);
  server.addService(nodeService, {
    NodeGetInfo: (_call: unknown, answer: Answer) => answer(null, { nodeId: "n7" }),
  });
};
const serve = (options: Partial<ServedCsiDriverOptions> = {}) =>
  serveCsiDriver({
    csiAddress: node.csiAddress,
    pluginRegistrationPath: node.pluginDir,
    addServices,
    ...options,
  });

test.each(["1.25", "1.26", "1.36"] as const)(
  "kubelet %s registers a driver that is served, and forgets it",
  async (version) => {
    const kubelet = await node.kubelet({ version });
    const driver = await serve();
    await driver.ready;
    expect([driver.name, driver.endpoint]).toEqual([DRIVER, node.csiAddress]);
    expect(driver.status().identity).toEqual({ name: DRIVER, vendorVersion: "1", manifest: {} });
    expect(kubelet.csiNode().spec.drivers).toEqual([{ name: DRIVER, nodeID: "n7", topologyKeys: [] }]);
    expect(await driver.close()).toEqual({ kind: "stopped" });
    await kubelet.deregistered(DRIVER);
    expect(existsSync(node.csiAddress)).toBe(false);
  },
);

test("services are added to grpc-js' own server: streams, metadata, interceptors", async () => {
  const seen: string[] = [];
  const all = { ...identity.Probe, path: "/x.Y/All", responseStream: true };
  await using _driver = await serve({
    serverOptions: {
      interceptors: [
        ({ path }, call) => {
          seen.push(path);
          return new ServerInterceptingCall(call);
        },
      ],
    },
    addServices: (server) => {
      addServices(server);
      server.addService(
        { All: all },
        {
          All: (call: ServerWritableStream<object, object>) => {
            seen.push(String(call.metadata.get("from")));
            const trailers = new Metadata();
            trailers.set("bytes-bin", Buffer.of(0, 255));
            for (const value of [true, false]) call.write({ ready: { value } });
            call.end(trailers);
          },
        },
      );
    },
  });
  const client = createUnixClient(node.csiAddress);
  const metadata = Metadata.fromHttp2Headers({ from: "test" });
  const stream = client.makeServerStreamRequest(
    all.path,
    all.requestSerialize,
    all.responseDeserialize,
    {},
    metadata,
  );
  const trailers = once(stream, "status");
  const answers = await stream.toArray();
  expect(answers).toEqual([{ ready: { value: true } }, { ready: { value: false } }]);
  expect((await trailers)[0].metadata.get("bytes-bin")).toEqual([Buffer.of(0, 255)]);
  client.close();
  expect(seen).toEqual([identity.GetPluginInfo.path, all.path, "test"]);
});

const BUSY = { code: status.ABORTED, details: "busy", metadata: Metadata.fromHttp2Headers({ wait: "1s" }) };
const OWN_CODE = { code: status.INTERNAL, message: "13 INTERNAL: no disk" };
const NOT_YET = Object.assign(new Error("not yet"), { code: status.UNAVAILABLE });
const READY = { ready: { value: true } };
const PLAIN = { ...BUSY, metadata: { wait: "1s" } as never };
const rejects = (error: unknown) => async () => Promise.reject(error);
const throws = () => {
  throw new Error("no such disk");
};

test.each<[string, (call: unknown, answer: Answer) => unknown, object]>([
  ["a value", async () => READY, READY],
  ["what the callback got before", async (_call, answer) => answer(null, READY), READY],
  ["the object that it returns", (_call) => READY, READY],
  ["an error with its status", rejects(NOT_YET), { code: 14, message: "14 UNAVAILABLE: not yet" }],
  ["a status object", rejects(BUSY), BUSY],
  ["a status object with plain metadata", (_call, answer) => answer(PLAIN), BUSY],
  ["a ServiceError", rejects(Object.assign(new Error("10 ABORTED: busy"), BUSY)), BUSY],
  ["a code of its own", rejects({ code: "NOT_FOUND", details: "no disk" }), OWN_CODE],
  ["a bare code", rejects({ code: status.NOT_FOUND }), { message: "5 NOT_FOUND: NOT_FOUND" }],
  ["no error", rejects("disk"), { code: status.INTERNAL, message: "13 INTERNAL: disk" }],
  ["what it throws", throws, { code: status.INTERNAL, message: "13 INTERNAL: no such disk" }],
])("a handler may answer by a promise: %s", async (_what, probe, expected) => {
  await using _driver = await serve({
    addServices: (server) => server.addService(identity, { ...Identity, Probe: probe }),
  });
  const client = createUnixClient(node.csiAddress);
  const call = callUnary(client, identity.Probe, {}, { timeoutMs: 60_000 });
  const answered = await call.catch((error: unknown) => error);
  expect(answered).toMatchObject({ ...expected, ...(expected === BUSY && { metadata: expect.anything() }) });
  if (expected === BUSY) expect((answered as typeof BUSY).metadata.get("wait")).toEqual(["1s"]);
  client.close();
});

const slow = { ...identity.Probe, path: "/x.Y/Slow" };

/** A driver with a call that is answered by hand, and a client of it. */
async function serveSlow(options: Partial<ServedCsiDriverOptions> = {}) {
  const arrived = new EventEmitter();
  const calls: { readonly call: ServerUnaryCall<object, object>; readonly answer: Answer }[] = [];
  const driver = await serve({
    ...options,
    addServices: (server) => {
      addServices(server);
      const Slow = (call: ServerUnaryCall<object, object>, answer: Answer) => {
        calls.push({ call, answer });
        arrived.emit("call");
      };
      server.addService({ Slow: slow }, { Slow });
    },
  });
  const client = createUnixClient(node.csiAddress);
  const call = async (signal?: AbortSignal) => {
    const isThere = once(arrived, "call");
    const result = callUnary(client, slow, {}, { timeoutMs: 60_000, signal });
    result.catch(() => {});
    await isThere;
    return { result };
  };
  return { driver, client, calls, call };
}

const WAITS = "Waiting for running calls to end; a handler that awaits close() waits for itself";
test.each<[string, number, (driver: ServedCsiDriver) => Promise<RegistrationOutcome>]>([
  ["have graceMs, then they are cut off", 1, (driver) => driver.close()],
  ["are cut off by destroy()", 1_000_000, (driver) => driver.destroy()],
  [
    "are cut off by destroy() after close()",
    1_000_000,
    (driver) => {
      driver.close();
      return driver.destroy();
    },
  ],
])("running calls %s", async (_what, graceMs, end) => {
  const log = recordLog(0);
  const { driver, client, calls, call } = await serveSlow({ graceMs, logger: log.logger });
  const { result } = await call();
  expect(await end(driver)).toEqual({ kind: "stopped" });
  await expect(result).rejects.toMatchObject({ code: status.UNAVAILABLE });
  await eventually(() => expect(calls.map(({ call }) => call.cancelled)).toEqual([true]));
  const { fields } = await log.when("Cut off a call that was not answered");
  expect(fields.method).toBe(slow.path);
  expect(log.all(WAITS)).toHaveLength(graceMs === 1 ? 1 : 0);
  client.close();
});

test("close() names in the log the calls that it waits for, such as one whose handler awaits it", async () => {
  const log = recordLog(0);
  const { driver, client, calls, call } = await serveSlow({ logger: log.logger });
  const { result } = await call();
  const closed = driver.close();
  const waiting = await log.when(WAITS);
  expect(waiting.fields).toEqual({ methods: [slow.path], graceMs: 10_000 });
  calls[0]?.answer(null, {});
  await result;
  await closed;
  client.close();
});

test("with fake timers serveCsiDriver rejects before a test runner's timeout, and says why", async () => {
  const { setImmediate: real } = globalThis;
  const log = recordLog(0);
  const serving = serve({
    addServices,
    serverOptions: {
      interceptors: [(_method, call) => new ServerInterceptingCall(call, { sendStatus: () => {} })],
    },
    logger: log.logger,
  });
  globalThis.setImmediate = ((act: () => void) => real(act)) as never;
  const error = await serving
    .catch((error: unknown) => error)
    .finally(() => {
      globalThis.setImmediate = real;
    });
  const message = expect.stringMatching(/with fake timers: gRPC needs.*; does an interceptor pass on/);
  expect(error).toMatchObject({ code: "DRIVER_TIMEOUT", message });
  const { fields } = await log.when("A call ended before it was answered");
  expect(fields).toMatchObject({
    method: identity.GetPluginInfo.path,
    hint: expect.stringContaining("interc"),
  });
}, 9_000);

test("a client that cancels many calls keeps its connection and its running calls", async () => {
  const { driver, client, calls, call } = await serveSlow();
  const bystander = await call();
  for (let given = 0; given < 120; given++) {
    const cancel = new AbortController();
    const { result } = await call(cancel.signal);
    cancel.abort();
    await expect(result).rejects.toMatchObject({ code: status.CANCELLED });
  }
  const closed = driver.close();
  await eventually(() => expect(existsSync(node.csiAddress)).toBe(false));
  calls[0]?.answer(null, {});
  expect(await bystander.result).toEqual({ ready: null });
  client.close();
  await closed;
});

test("grpc-js keeps no connection that has ended, and no server of a driver that was closed", async () => {
  const servers = promisify(getChannelzHandlers().GetServers);
  const listeners = async () =>
    (await servers({ request: {} } as never))?.server?.map(({ listen_socket }) => listen_socket?.length);
  const before = (await listeners()) as number[];
  const driver = await serve();
  await eventually(async () => expect(await listeners()).toEqual([...before, 0])); // Its own call is over.
  await driver.close();
  expect(await listeners()).toEqual(before);
});

test("a driver is served while kubelet refuses it, and registered when kubelet accepts it", async () => {
  const kubelet = await node.kubelet({ faults: [{ kind: "refuse", error: "no API server", times: 1 }] });
  await using driver = await serve();
  await kubelet.refused(DRIVER);
  const client = createUnixClient(node.csiAddress);
  const identified = callUnary(client, identity.GetPluginInfo, {}, { timeoutMs: 60_000 });
  expect(await identified).toMatchObject({ name: DRIVER });
  client.close();
  await driver.ready;
});

test("with the policy end kubelet's refusal ends the whole driver", () =>
  expectNothingLeft(async () => {
    const kubelet = await node.kubelet({ faults: [{ kind: "refuse", error: "no room" }] });
    const driver = await serve({ onRegistrationFailure: "end" });
    const reason = expect.stringContaining("no room");
    expect(await driver.closed).toMatchObject({ kind: "refused", kubeletError: reason });
    await expect(driver.ready).rejects.toMatchObject({ code: "REFUSED" });
    expect(existsSync(node.csiAddress)).toBe(false);
    await kubelet.close();
  }));

const failure = (code: string, text: RegExp) => ({ code, message: expect.stringMatching(text) });
const NONE = failure("SOCKET_UNUSABLE", /^cannot listen on \S+: ENOENT: the directory does not exist/);
const refused = (text: string) => ({ code: "INVALID_OPTION", message: expect.stringContaining(text) });
const fails = (_call: unknown, answer: Answer) => answer({ code: status.INTERNAL, details: "no room" });
const failing = (server: Server) => server.addService(identity, { GetPluginInfo: fails });
const adding = (more: object) => ({
  addServices: (s: Server) => s.addService(identity, { ...Identity, ...more }),
});
const asynchronous = async () => Promise.reject(new Error("too late"));

test.each<[string, Partial<ServedCsiDriverOptions>, object]>([
  [
    "there is no Identity service",
    { addServices: () => {} },
    failure("IDENTITY_MISSING", /UNIMPLEMENTED.*; addServices must add/),
  ],
  [
    "GetPluginInfo answers nothing",
    { addServices: (server) => server.addService(identity, { GetPluginInfo: () => {} }) },
    failure("IDENTITY_MISSING", /answered without one$/),
  ],
  [
    "a name in serverOptions is mistyped",
    { serverOptions: { "grpc.max_recieve_message_length": 1 } as never },
    refused("did you mean grpc.max_receive_message_length?"),
  ],
  ["a handler is no function", adding({ Probe: {} }), refused("handler of Probe is an object; it takes a f")],
  [
    "a handler's name is mistyped",
    { addServices: (server) => server.addService(identity, { GetPluginInfoo: fails } as never) },
    refused("addService: there is no method GetPluginInfoo; did you mean GetPluginInfo?"),
  ],
  [
    "its endpoint is a directory",
    { endpoint: "/plug/" },
    refused('endpoint is "/plug/"; it takes the path of'),
  ],
  [
    "its socket is below kubelet's directory",
    { csiAddress: "/r/x/csi.sock", pluginRegistrationPath: "/r" },
    refused("serveCsiDriver: csiAddress /r/x/csi.sock is in the plugin registration directory, where"),
  ],
  [
    "it listens on a port",
    { csiAddress: "0.0.0.0:9000" },
    refused('csiAddress is "0.0.0.0:9000"; it takes the path of a unix'),
  ],
  ["GetPluginInfo fails", { addServices: failing }, failure("DRIVER_FAILED", /INTERNAL: no room/)],
  ["its directory is away", { csiAddress: "/proc/none/csi.sock" }, NONE],
  ["kubelet's directory is away", { pluginRegistrationPath: "/proc/none/here" }, NONE],
  [
    "serverOptions are none",
    { serverOptions: [] as never },
    refused("serverOptions is an array; it takes an object with options of grpc-js' Server"),
  ],
  [
    "an interceptor is no function",
    { serverOptions: { interceptors: ["log"] as never } },
    refused('serverOptions: interceptors[0] is "log"; it takes a function'),
  ],
  ["addServices is async", { addServices: asynchronous }, refused("addServices is async")],
  ["a file stands at its path", {}, failure("SOCKET_UNUSABLE", /is not a socket/)],
])("nothing is left where %s", (where, options, error) =>
  expectNothingLeft(async () => {
    if (where.startsWith("a file")) writeFileSync(node.csiAddress, "kept");
    await expect(serve(options)).rejects.toMatchObject(error);
    expect([existsSync(node.csiAddress), ...readdirSync(node.pluginDir)]).toEqual([/^a file/.test(where)]);
  }),
);
