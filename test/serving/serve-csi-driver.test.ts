import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { status } from "@grpc/grpc-js";
import { loadProtos } from "../../src/grpc/protos";
import { callUnary } from "../../src/grpc/unary";
import type { CsiServiceHost, CsiServingOptions } from "../../src/serving/options";
import { serveCsiDriver } from "../../src/serving/serve-csi-driver";
import type { CsiCall } from "../../src/serving/unary-method";
import { createKubeletClient } from "../../src/simulator/kubelet-client";
import { recordLog } from "../support/recorded-log";
import { expectNothingLeft } from "../support/resources";
import { createSimulatedNode, DRIVER, type SimulatedNode } from "../support/simulated-node";

const { identity, node: nodeService } = loadProtos();

let node: SimulatedNode;
beforeEach(async () => {
  node = await createSimulatedNode();
});
afterEach(() => node[Symbol.asyncDispose]());

const Identity = {
  GetPluginInfo: async () => ({ name: DRIVER, vendorVersion: "1" }),
  Probe: async () => ({}),
};
const NodeMethods = { NodeGetInfo: async () => ({ nodeId: "n7" }) };
const addServices = (server: CsiServiceHost) => {
  server.addService(identity, Identity);
  server.addService(nodeService, NodeMethods);
};
const serve = (options: Partial<CsiServingOptions> = {}) =>
  serveCsiDriver({
    csiAddress: node.csiAddress,
    pluginRegistrationPath: node.pluginDir,
    addServices,
    ...options,
  });

/** Calls the driver as kubelets up to 1.25 do: with its path as `:authority`. */
async function call(method: Parameters<typeof callUnary>[1]) {
  const client = createKubeletClient(node.csiAddress, node.csiAddress);
  try {
    return await callUnary(client, method, {}, { timeoutMs: 20_000 });
  } finally {
    client.close();
  }
}

test.each(["1.20", "1.24", "1.36"] as const)(
  "kubelet %s registers a driver that is served, and forgets it",
  async (version) => {
    const kubelet = await node.kubelet({ version });
    const driver = await serve();
    await driver.ready;
    expect([driver.name, driver.endpoint]).toEqual([DRIVER, node.csiAddress]);
    expect(kubelet.csiNode().spec.drivers).toEqual([{ name: DRIVER, nodeID: "n7", topologyKeys: [] }]);
    expect(await driver.close()).toEqual({ kind: "stopped" });
    await kubelet.deregistered(DRIVER);
    expect(existsSync(node.csiAddress)).toBe(false);
  },
);

test("methods may be callbacks or promises; what they throw is answered, what is not there is UNIMPLEMENTED", async () => {
  type Callback = (error: object | null, response?: object) => void;
  let answer: (call: never, callback: Callback) => unknown = () => {};
  await using _driver = await serve({
    addServices: (server) => {
      server.addService(identity, {
        ...Identity,
        Probe: (call: never, callback: Callback) => answer(call, callback),
      });
    },
  });
  const answers = (next: typeof answer) => {
    answer = next;
    return call(identity.Probe as never);
  };
  expect(await answers((_call, callback) => callback(null, { ready: { value: true } }))).toMatchObject({
    ready: { value: true },
  });
  const refused = { code: status.NOT_FOUND, message: expect.stringContaining("no such disk") };
  await expect(
    answers((_call, callback) => callback({ code: 5, details: "no such disk" })),
  ).rejects.toMatchObject(refused);
  await expect(
    answers(() => {
      throw Object.assign(new Error("no such disk"), { code: 5 });
    }),
  ).rejects.toMatchObject(refused);
  await expect(answers(() => Promise.reject(new Error("broken")))).rejects.toMatchObject({
    code: status.INTERNAL,
  });
  await expect(call(nodeService.NodeGetInfo as never)).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
});

test("a response that cannot be encoded is in the log, with the cause", async () => {
  const cause = new Error("no node ID yet");
  let answer: unknown;
  const log = recordLog();
  await using _driver = await serve({
    logger: log.logger,
    addServices: (server) => {
      server.addService(identity, Identity);
      server.addService(nodeService, { NodeGetInfo: () => answer });
    },
  });
  const message = "A response of the driver cannot be encoded";
  const responses = [
    "n7",
    5,
    [],
    {
      get nodeId() {
        throw cause;
      },
    },
  ];
  for (answer of responses)
    await expect(call(nodeService.NodeGetInfo as never)).rejects.toMatchObject({ code: status.INTERNAL });
  const lines = log.all(message);
  expect(lines).toHaveLength(responses.length);
  for (const { error, fields } of lines) {
    expect(error).toHaveProperty("stack");
    expect(fields).toEqual({ method: nodeService.NodeGetInfo.path });
  }
  expect(lines.at(-1)?.error).toBe(cause);
});

test("a driver may be a class, and what its methods hear of a call's end harms nobody", async () => {
  const stop = new AbortController();
  class Driver {
    readonly name = DRIVER;
    async getPluginInfo() {
      return { name: this.name, vendorVersion: "1" };
    }
    Probe = async (call: CsiCall) => {
      const gone = new Promise<void>((resolve) => call.once("cancelled", () => resolve()));
      call.on("cancelled", () => {
        throw new Error("the driver's own fault");
      });
      stop.abort();
      await gone;
      return {};
    };
  }
  const log = recordLog();
  await using driver = await serve({
    logger: log.logger,
    addServices: (server) => server.addService(identity, new Driver()),
  });
  expect(driver.name).toBe(DRIVER);
  const client = createKubeletClient(node.csiAddress, "localhost");
  const { signal } = stop;
  await expect(callUnary(client, identity.Probe, {}, { timeoutMs: 60_000, signal })).rejects.toMatchObject({
    code: status.CANCELLED,
  });
  client.close();
  const { error } = await log.when("A listener to a call's end failed");
  expect(String(error)).toContain("the driver's own fault");
});

test("kubelet's refusal ends it, as a whole", () =>
  expectNothingLeft(async () => {
    const kubelet = await node.kubelet({ faults: [{ kind: "refuse", reason: "no room" }] });
    const driver = await serve();
    expect(await driver.closed).toMatchObject({
      kind: "refused",
      reason: expect.stringContaining("no room"),
    });
    await expect(driver.ready).rejects.toMatchObject({ code: "REFUSED" });
    expect(existsSync(node.csiAddress)).toBe(false);
    await kubelet.close();
  }));

test.each<[string, () => Partial<CsiServingOptions>, object]>([
  ["there is no Identity service", () => ({ addServices: () => {} }), { code: "INVALID_OPTION" }],
  ["addServices is missing", () => ({ addServices: undefined as never }), { code: "INVALID_OPTION" }],
  [
    "addServices is async",
    () => ({ addServices: async () => Promise.reject(new Error("too late")) }),
    { code: "INVALID_OPTION", message: expect.stringContaining("addServices is async") },
  ],
  [
    "a method is no function",
    () => ({ addServices: (server) => server.addService(identity, { Probe: 7 }) }),
    { code: "INVALID_OPTION", message: expect.stringContaining("/csi.v1.Identity/Probe cannot be served") },
  ],
  [
    "a method has a stream",
    () => ({
      addServices: (server) =>
        server.addService({ Probe: { ...identity.Probe, responseStream: true } }, Identity),
    }),
    { code: "INVALID_OPTION", message: expect.stringContaining("it is a stream") },
  ],
  ["it was stopped before", () => ({ signal: AbortSignal.abort() }), { code: "ABORTED" }],
  [
    "the registration directory is away",
    () => ({ pluginRegistrationPath: "/none/here" }),
    { code: "SOCKET_UNUSABLE" },
  ],
  [
    "a file stands at its path",
    () => {
      writeFileSync(node.csiAddress, "kept");
      return {};
    },
    { code: "SOCKET_UNUSABLE", message: expect.stringContaining("is not a socket") },
  ],
])("where %s, nothing is left", (_where, options, error) =>
  expectNothingLeft(async () => {
    const given = options();
    const before = readdirSync(node.pluginDir);
    await expect(serve(given)).rejects.toMatchObject(error);
    expect(readdirSync(node.pluginDir)).toEqual(before);
  }),
);
