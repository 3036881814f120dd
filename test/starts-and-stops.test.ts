import { getEventListeners } from "node:events";
import { readdirSync } from "node:fs";
import type { Server, sendUnaryData } from "@grpc/grpc-js";
import { protos } from "../src/grpc/protos";
import { serveCsiDriver, startNodeRegistrar, startRegistrar, startRegistration } from "../src/index";
import { startCsiDriver, startKubelet } from "../src/testing";
import { createNodeFolder } from "./support/node-folder";
import { countInotifyWatches, expectNothingLeft } from "./support/resources";

/** What a round leaves, ten show. 500 take half a minute of CPU: `ROUNDS=500 npx jest test/starts-and-stops`. */
const ROUNDS = Number(process.env.ROUNDS ?? 10);
/** Every so many rounds what was started has time to register. */
const REGISTERED_EACH = 5;

const { identity, node: nodeService } = protos;
const answering = (response: object) => (_call: unknown, answer: sendUnaryData<object>) =>
  answer(null, response);
const addServices = (server: Server) => {
  server.addService(identity, {
    GetPluginInfo: answering({ name: "served.csi", vendorVersion: "", manifest: {} }),
  });
  const info = { nodeId: "n1", maxVolumesPerNode: 0, accessibleTopology: null };
  server.addService(nodeService, { NodeGetInfo: answering(info) });
};

const descriptors = () => readdirSync("/proc/self/fd").length;
const listeners = () => process.eventNames().map((name) => [String(name), process.listenerCount(name)]);

test(`${ROUNDS} rounds of start and stop of every part leave nothing`, () =>
  expectNothingLeft(async () => {
    await using folder = await createNodeFolder();
    const { csiAddress, pluginDir: pluginRegistrationPath } = folder;
    const { signal } = new AbortController();

    const round = async (isRegistered: boolean) => {
      const common = { pluginRegistrationPath, signal };
      await using kubelet = await startKubelet({ ...common, reconcilePeriodMs: 10, waitTimeoutMs: 60_000 });
      await using driver = await startCsiDriver({ csiAddress, name: "x.csi", signal });
      const elsewhere = { csiAddress, endpoint: csiAddress, timeoutMs: 60_000 };
      await using registrar = await startRegistrar({ ...common, ...elsewhere });
      const own = { csiAddress: folder.at("served.sock"), addServices };
      await using served = await serveCsiDriver({ ...common, ...own });
      const patterns = [folder.at("plugins", "*", "csi.sock")];
      const ofPatterns = { csiAddresses: patterns, endpoints: patterns };
      await using ofNode = await startNodeRegistrar({ ...common, ...ofPatterns });
      if (isRegistered) {
        await Promise.all([registrar.ready, served.ready]);
        const { drivers } = kubelet.csiNode().spec;
        expect(drivers.map(({ name }) => name).sort()).toEqual(["served.csi", "x.csi"]);
        expect([driver.name, ofNode.all]).toEqual(["x.csi", []]);
      }
    };

    await round(true);
    const left = () => [descriptors(), countInotifyWatches(), listeners()];
    const before = left();
    const following = jest.spyOn(AbortSignal, "any");
    for (let count = 1; count <= ROUNDS; count++) await round(count % REGISTERED_EACH === 0);
    expect(left()).toEqual(before);
    const signals: AbortSignal[] = following.mock.results.map(({ value }) => value);
    expect([signal, ...signals].flatMap((one) => getEventListeners(one, "abort"))).toEqual([]);
    expect(folder.visibleFiles()).toEqual([]);
  }));

const stopped = { signal: AbortSignal.abort() };
const there = { csiAddress: "/x", endpoint: "/x" };

test.each([
  ["startRegistrar", () => startRegistrar({ ...there, ...stopped })],
  ["startNodeRegistrar", () => startNodeRegistrar({ csiAddresses: ["/x"], endpoints: ["/x"], ...stopped })],
  ["startRegistration", () => startRegistration({ name: "x.csi", endpoint: "/x", ...stopped })],
  ["serveCsiDriver", () => serveCsiDriver({ csiAddress: "/x", addServices, ...stopped })],
])("%s starts nothing for a signal that is aborted already", (_what, start) =>
  expectNothingLeft(() => expect(start()).rejects.toMatchObject({ code: "ABORTED" })),
);

// Node 20 warns of a leak when a signal has eleven listeners.
test("one signal ends any number of parts, and has no listener for each", async () => {
  await using folder = await createNodeFolder();
  const { pluginDir: pluginRegistrationPath } = folder;
  const stop = new AbortController();
  const { signal } = stop;
  const kubelet = await startKubelet({ pluginRegistrationPath, signal });
  const waits = [];
  const parts = [];
  for (let i = 0; i < 11; i++) {
    const csiAddress = folder.at(`${i}.sock`);
    await startCsiDriver({ csiAddress, name: "x.csi", signal });
    const options = { name: `${i}.csi`, endpoint: csiAddress, pluginRegistrationPath, signal };
    parts.push(await startRegistration({ ...options, onRegistrationFailure: "retry" }));
    waits.push(kubelet.registered("nobody", { signal, timeoutMs: 100_000 }));
  }
  expect(getEventListeners(signal, "abort")).toEqual([]);
  stop.abort("the end");
  for (const { closed } of parts) expect(await closed).toEqual({ kind: "stopped" });
  for (const wait of waits) await expect(wait).rejects.toMatchObject({ code: "ABORTED", cause: "the end" });
  await kubelet.close();
});
