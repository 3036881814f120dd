import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { afterEach, beforeEach, test } from "node:test";
import type { ServedCsiDriver } from "registrar";
import { Client, credentials } from "registrar/grpc";
import { type SimulatedKubelet, startKubelet } from "registrar/testing";
import { csi, type PublishRequest } from "../src/csi.ts";
import { NAME, startScratchDriver } from "../src/driver.ts";
import { parseMedium } from "../src/volumes.ts";

let folder: string;
let kubelet: SimulatedKubelet;
let driver: ServedCsiDriver;
let client: Client;

beforeEach(async () => {
  folder = await mkdtemp(`${tmpdir()}/scratch-`);
  await mkdir(`${folder}/plugins`);
  const pluginRegistrationPath = `${folder}/plugins_registry`;
  const csiAddress = `${folder}/plugins/csi.sock`;
  kubelet = await startKubelet({ pluginRegistrationPath, version: "1.36", reconcilePeriodMs: 20 });
  driver = await startScratchDriver({
    csiAddress,
    endpoint: csiAddress,
    pluginRegistrationPath,
    nodeId: "node-7",
    podsDirectory: `${folder}/pods`,
  });
  client = new Client(`unix:${csiAddress}`, credentials.createInsecure(), {
    "grpc.default_authority": "localhost", // As kubelet calls a driver.
  });
});

afterEach(async () => {
  // Where the driver did not start, kubelet must end nevertheless: the tests would wait for it forever.
  client?.close();
  await kubelet?.close(); // First: its calls end, for which the driver would wait.
  await driver?.close();
  await rm(folder, { recursive: true });
});

function call(method: "NodePublishVolume" | "NodeUnpublishVolume", request: object): Promise<unknown> {
  const { path, requestSerialize, responseDeserialize } = csi.node[method] ?? assert.fail();
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, response) =>
      error ? reject(error) : resolve(response),
    );
  });
}

const target = () => `${folder}/pods/pod-1/volumes/kubernetes.io~csi/scratch/mount`;
const inline = (attributes: Record<string, string> = {}): Partial<PublishRequest> => ({
  volumeId: "csi-1",
  targetPath: target(),
  volumeContext: { "csi.storage.k8s.io/ephemeral": "true", ...attributes },
});

test("kubelet registers it, with its node ID, and forgets it when it goes", async () => {
  await kubelet.registered(NAME);
  assert.deepEqual(kubelet.csiNode().spec.drivers, [{ name: NAME, nodeID: "node-7", topologyKeys: [] }]);
  await driver.close();
  await kubelet.deregistered(NAME);
  assert.equal(existsSync(driver.csiAddress), false);
});

test("a volume is an empty directory that can be written to, and is gone with what is in it", async () => {
  await call("NodePublishVolume", inline());
  await call("NodePublishVolume", inline());
  await writeFile(`${target()}/data`, "kept as long as the pod");
  assert.equal(await readFile(`${target()}/data`, "utf8"), "kept as long as the pod");
  await call("NodeUnpublishVolume", { volumeId: "csi-1", targetPath: target() });
  await call("NodeUnpublishVolume", { volumeId: "csi-1", targetPath: target() });
  assert.equal(existsSync(target()), false);
});

test("in memory it is a file system of its own", {
  skip: process.getuid?.() !== 0 && "needs root",
}, async (t) => {
  try {
    await call("NodePublishVolume", inline({ medium: "memory", size: "1Mi" }));
  } catch (error) {
    // Root of a container without CAP_SYS_ADMIN.
    if (/permission denied|not permitted/.test(String(error))) return t.skip("must not mount here");
    throw error;
  }
  assert.notEqual((await stat(target())).dev, (await stat(folder)).dev);
  await assert.rejects(writeFile(`${target()}/big`, Buffer.alloc(2 ** 21)), { code: "ENOSPC" });
  await call("NodeUnpublishVolume", { volumeId: "csi-1", targetPath: target() });
  assert.equal(existsSync(target()), false);
});

test("what it cannot do it refuses, with the reason", async () => {
  const refused = (request: object, details: RegExp) =>
    assert.rejects(call("NodePublishVolume", request), { code: 3, details });
  await refused({ ...inline(), targetPath: "/etc" }, /target_path \/etc is not below/);
  await refused({ ...inline(), targetPath: `${folder}/pods/../plugins` }, /is not below/);
  await refused({ ...inline(), volumeContext: {} }, /inline volumes only/);
  await refused({ ...inline(), volumeCapability: { block: {} } }, /no block volumes/);
  await refused(inline({ medium: "tape" }), /medium is "tape"/);
  await assert.rejects(call("NodeUnpublishVolume", { targetPath: "/etc" }), { code: 3 });
});

test("attributes say where it is", () => {
  assert.deepEqual(parseMedium({}), { kind: "disk" });
  assert.deepEqual(parseMedium({ medium: "memory" }), { kind: "memory", size: "64m" });
  assert.deepEqual(parseMedium({ medium: "memory", size: "2Gi" }), { kind: "memory", size: "2g" });
  assert.throws(() => parseMedium({ medium: "memory", size: "2,exec" }), /size is "2,exec"/);
});
