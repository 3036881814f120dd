import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type GrpcObject, loadPackageDefinition, type ServiceClientConstructor } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { parseAllDocuments } from "yaml";
import { callUnary } from "../../src/grpc/client/unary";
import { startKubelet } from "../../src/simulator/kubelet";
import { createKubeletClient } from "../../src/simulator/kubelet-client";
import { PATIENCE_MS } from "../support/history";
import { createTempFolder, type TempFolder } from "../support/temp-folder";
import { type Buildah, createBuildah } from "./support/buildah";
import { buildExampleDriver, EXAMPLE_DRIVER as EXAMPLE } from "./support/example-driver-image";

// examples/driver as its Dockerfile makes it, started as its DaemonSet says: the container's paths are mounted from
// where a node has them, which here is a folder.

const BUILDING_MS = 600_000;
const NAME = "scratch.example.com";
const PUBLISHED = `/var/lib/kubelet/pods/pod-1/volumes/kubernetes.io~csi/scratch/mount`;

interface Container {
  readonly env: readonly { readonly name: string }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface PodSpec {
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string; readonly hostPath: { readonly path: string } }[];
}

let folder: TempFolder;
let buildah: Buildah;
beforeAll(async () => {
  folder = await createTempFolder();
  buildah = createBuildah(folder.path);
  await buildExampleDriver(buildah, "localhost/scratch-driver", folder.path);
}, BUILDING_MS);
afterAll(() => folder[Symbol.asyncDispose](), BUILDING_MS);

/** What the DaemonSet mounts, from below `host`, whose folders are made as a node has them. */
function mountsBelow(host: string): readonly string[] {
  const documents = parseAllDocuments(readFileSync(join(EXAMPLE, "deploy.yaml"), "utf8"));
  const objects = documents.map((document) => document.toJS());
  const spec: PodSpec = objects.find(({ kind }) => kind === "DaemonSet").spec.template.spec;
  const [{ env, volumeMounts }] = spec.containers;
  expect(env.map(({ name }) => name)).toEqual(["NODE_ID"]);
  return volumeMounts.map(({ name, mountPath }) => {
    const path = `${host}${spec.volumes.find((volume) => volume.name === name)?.hostPath.path}`;
    mkdirSync(path, { recursive: true });
    return `--volume=${path}:${mountPath}`;
  });
}

/** The processes that run with this variable: buildah keeps the signals that it gets to itself. */
const processesWith = (variable: string) =>
  readdirSync("/proc").filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        readFileSync(`/proc/${pid}/cmdline`, "utf8") === "/usr/bin/node\0src/main.ts\0" &&
        readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(variable)
      );
    } catch {
      return false; // It has ended, or is somebody else's.
    }
  });

test("its image registers with kubelet, publishes a volume into the pod's folder, and leaves no socket", async () => {
  await using host = await createTempFolder();
  const mounts = mountsBelow(host.path);
  const endpoint = host.at("var/lib/kubelet/plugins", NAME, "csi.sock");
  const pluginRegistrationPath = host.at("var/lib/kubelet/plugins_registry");
  await using kubelet = await startKubelet({ pluginRegistrationPath, waitTimeoutMs: PATIENCE_MS });

  const variables = [`ENDPOINT=${endpoint}`, "NODE_ID=node-7"];
  const run = buildah.container("localhost/scratch-driver");
  const options = [...mounts, ...variables.map((variable) => `--env=${variable}`)];
  const [program = "", ...args] = run(options, "node", "src/main.ts");
  const container = spawn(program, args, {
    env: { ...process.env, BUILDAH_ISOLATION: "chroot" },
    stdio: "inherit",
  });
  const exited = once(container, "exit");
  const stop = () => {
    for (const pid of processesWith(`ENDPOINT=${endpoint}`)) process.kill(Number(pid), "SIGTERM");
  };
  await using _container = { [Symbol.asyncDispose]: async () => void stop() };
  await kubelet.registered(NAME);
  expect(kubelet.csiNode().spec.drivers).toEqual([{ name: NAME, nodeID: "node-7", topologyKeys: [] }]);

  const stubs = loadPackageDefinition(loadSync(join(EXAMPLE, "csi.proto"))).csi as GrpcObject;
  const { service } = (stubs.v1 as GrpcObject).Node as ServiceClientConstructor;
  const client = createKubeletClient(endpoint, endpoint); // As kubelets up to 1.25 do.
  const call = (method: string, request: object) =>
    callUnary(client, service[method] as never, request as never, { timeoutMs: PATIENCE_MS });
  const inline = { "csi.storage.k8s.io/ephemeral": "true" };
  await call("NodePublishVolume", { volumeId: "1", targetPath: PUBLISHED, volumeContext: inline });
  expect(existsSync(host.at(PUBLISHED))).toBe(true);
  await call("NodeUnpublishVolume", { volumeId: "1", targetPath: PUBLISHED });
  expect(existsSync(host.at(PUBLISHED))).toBe(false);
  client.close();

  stop();
  await kubelet.deregistered(NAME);
  expect((await exited)[0]).toBe(0);
  expect(existsSync(endpoint)).toBe(false);
});
