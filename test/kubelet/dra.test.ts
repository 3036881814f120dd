import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { RegistrationOptions } from "../../src/registrar/model/options";
import { startRegistration } from "../../src/registrar/start-registration";
import { eachTest } from "../support/each-test";
import type { Kubelet } from "./support/kubelet";
import { type NodeFolder, startNode } from "./support/node-folder";
import { kubeletVersions, minorOf } from "./support/versions";

const name = "gpu.example.com";
const withDra = (version: string) => minorOf(version) >= 34;

type DraOptions = Extract<RegistrationOptions, { readonly type: string }>;

/** Registers a DRA driver on a node; kubelet's DRA manager connects to a driver later, so that none has to listen. */
const start = ({ at, pluginDir }: NodeFolder, options: Partial<DraOptions> = {}) =>
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

const accepted = { versions: ["v1.DRAPlugin", "v1.DRAResourceHealth"], error: null };

describe.each(kubeletVersions().filter(withDra))("kubelet %s's DRA manager", (version) => {
  const node = eachTest(() => startNode(version));

  test("registers a driver, and it is ready and healthy; heals it; knows it after a restart; forgets it", async () => {
    const registration = await start(node);
    await registration.ready;
    expect(await node.kubelet.answered("register", name)).toMatchObject({
      ...accepted,
      endpoint: registration.endpoint,
    });
    expect(await registration.selfCheck()).toEqual({ kind: "ok" });

    const before = await node.kubelet.eventsSoFar();
    await rm(join(node.pluginDir, `${name}-dra-reg.sock`));
    await deregistered(node.kubelet, before);
    expect(await node.kubelet.answered("register", name, before)).toMatchObject(accepted);

    await using kubelet = await node.kubelet.restart();
    expect(await kubelet.answered("register", name)).toMatchObject(accepted);

    const beforeEnd = await kubelet.eventsSoFar();
    await registration.close();
    await deregistered(kubelet, beforeEnd);
  });

  test("says no in its own words, and is asked again with policy retry", async () => {
    const unknown = await start(node, { supportedVersions: ["v9.DRAPlugin"], onRegistrationFailure: "end" });
    await expect(unknown.ready).rejects.toMatchObject({
      code: "REFUSED",
      message: expect.stringContaining('none of services supported by the plugin (["v9.DRAPlugin"])'),
    });
    await node.kubelet.command({ command: "refuse", text: "not yet", times: 2 });
    await using patient = await start(node, { onRegistrationFailure: "retry" });
    await patient.ready;
    // This kubelet tries again by itself, too: where both do at once, it says yes twice.
    expect(patient.status()).toMatchObject({ state: "registered", tally: { refused: 2 } });
  });
});
