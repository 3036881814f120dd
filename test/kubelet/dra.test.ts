import type { DraRegistrationOptions } from "../../src/registrar/model/library-options";
import { startRegistration } from "../../src/registrar/start-registration";
import { eachTest } from "../support/each-test";
import type { Kubelet } from "./support/kubelet";
import { type NodeFolder, startNode } from "./support/node-folder";
import { kubeletVersions, minorOf } from "./support/versions";

const name = "gpu.example.com";
const withDra = (version: string) => minorOf(version) >= 34;

/** Registers a DRA driver on a node; kubelet's DRA manager connects to a driver later, so that none has to listen. */
const start = ({ at, pluginDir }: NodeFolder, options: Partial<DraRegistrationOptions> = {}) =>
  startRegistration({
    type: "DRAPlugin",
    name,
    endpoint: at("dra.sock"),
    pluginRegistrationPath: pluginDir,
    supportedVersions: ["v1.DRAPlugin", "v1.DRAResourceHealth"],
    timeoutMs: 20_000,
    ...options,
  });

const deregistered = ({ events }: Kubelet, from: number) =>
  events.waitFor((event) => event.event === "deregister" && event.plugin === name, from);

describe.each(kubeletVersions().filter(withDra))("kubelet %s's DRA manager", (version) => {
  const node = eachTest(() => startNode(version));

  test("a rolling update overlaps two instances of a DRA driver, and kubelet always has one", async () => {
    const startOne = async (instance: string) => {
      const registration = await start(node, { instance, endpoint: node.at(`dra-${instance}.sock`) });
      await registration.ready;
      return registration;
    };
    const former = await startOne("0b6f8a5e-4c8e-4d8b-9a53-6f3f2b8d7c11");
    await using latter = await startOne("e0c3f8f2-7d0f-4a55-8a0c-2f1c9bd5a3aa");
    const changes = async () => {
      const until = await node.kubelet.eventsSoFar();
      const all = node.kubelet.events.all().slice(0, until);
      return all.flatMap((event) =>
        event.event === "register" || event.event === "deregister" ? [event] : [],
      );
    };
    const { endpoint } = former;
    const registered = (one: { readonly endpoint: string }) => ({
      event: "register",
      endpoint: one.endpoint,
      error: null,
    });
    expect(await changes()).toMatchObject([registered(former), registered(latter)]);
    expect([former, latter].map((one) => one.status().state)).toEqual(["registered", "registered"]);

    const before = await node.kubelet.eventsSoFar();
    await former.close();
    await deregistered(node.kubelet, before);
    expect(await changes()).toMatchObject([
      registered({ endpoint }),
      registered(latter),
      { event: "deregister" },
    ]);
    expect(latter.status()).toMatchObject({ state: "registered", counters: { accepted: 1 } });
    expect(await latter.selfCheck()).toEqual({ kind: "ok" });
  });
});
