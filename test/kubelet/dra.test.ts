import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { RegistrationOptions } from "../../src/registrar/model/options";
import type { StateName } from "../../src/registrar/model/state";
import type { Registration } from "../../src/registrar/registration/registration";
import { startRegistration } from "../../src/registrar/start-registration";
import { type Kubelet, startKubelet } from "./support/kubelet";
import { createNodeFolder, type NodeFolder } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

const name = "gpu.example.com";
const withDra = (version: string) => Number(version.split(".")[1]) >= 34;

/** Registers a DRA driver on a node; kubelet's DRA manager connects to a driver later, so that none has to listen. */
const start = ({ pluginRegistrationPath }: NodeFolder, options: Partial<RegistrationOptions> = {}) =>
  startRegistration({
    type: "DRAPlugin",
    name,
    endpoint: join(pluginRegistrationPath, "..", "dra.sock"),
    pluginRegistrationPath,
    supportedVersions: ["v1.DRAPlugin"],
    timeoutMs: 20_000,
    ...options,
  });

const reached = (registration: Registration, wanted: StateName) =>
  new Promise<void>((resolve) => {
    const look = () => registration.status().state === wanted && resolve();
    registration.subscribe("state-changed", look);
    look();
  });

const deregistered = ({ events }: Kubelet, from: number) =>
  events.waitFor((event) => event.event === "deregister" && event.plugin === name, from);

const accepted = { versions: ["v1.DRAPlugin"], error: null };

describe.each(kubeletVersions().filter(withDra))("kubelet %s's DRA manager", (version) => {
  let node: NodeFolder;
  let kubelet: Kubelet;
  beforeEach(async () => {
    node = await createNodeFolder();
    kubelet = await startKubelet({ version, pluginDir: node.pluginRegistrationPath });
  });
  afterEach(async () => {
    await kubelet.close();
    await node[Symbol.asyncDispose]();
  });

  test("registers a driver, and it is ready and healthy; heals it; knows it after a restart; forgets it", async () => {
    const registration = await start(node);
    await registration.ready;
    expect(await kubelet.answered("register", name)).toMatchObject({
      ...accepted,
      endpoint: registration.endpoint,
    });
    expect(await registration.selfCheck()).toEqual({ kind: "ok" });

    const before = await kubelet.eventsSoFar();
    await rm(join(node.pluginRegistrationPath, `${name}-dra-reg.sock`));
    await deregistered(kubelet, before);
    expect(await kubelet.answered("register", name, before)).toMatchObject(accepted);

    kubelet = await kubelet.restart();
    expect(await kubelet.answered("register", name)).toMatchObject(accepted);

    const beforeEnd = await kubelet.eventsSoFar();
    await registration.close();
    await deregistered(kubelet, beforeEnd);
  });

  test("says no in its own words, and is asked again with policy retry", async () => {
    const unknown = await start(node, { supportedVersions: ["v9.DRAPlugin"] });
    await expect(unknown.ready).rejects.toMatchObject({
      code: "REFUSED",
      message: expect.stringContaining('none of services supported by the plugin (["v9.DRAPlugin"])'),
    });
    await kubelet.command({ command: "refuse", text: "not yet", times: 2 });
    await using patient = await start(node, { onRegistrationFailure: "retry" });
    await patient.ready;
    // This kubelet tries again by itself, too: where both do at once, it says yes twice.
    expect(patient.status()).toMatchObject({ state: "registered", tally: { refused: 2 } });
  });

  test("has the newer of two registrars of a driver; the older stands by, and takes over", async () => {
    await using older = await start(node);
    await older.ready;
    const newer = await start(node);
    await newer.ready;
    await reached(older, "standby");
    const before = await kubelet.eventsSoFar();
    await newer.close();
    expect(await kubelet.answered("register", name, before)).toMatchObject(accepted);
    await reached(older, "registered");
  });
});
