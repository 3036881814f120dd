import { mkdir } from "node:fs/promises";
import { parse } from "yaml";
import { parseFlags } from "../../src/cli/flags";
import { fillPattern, pairPatterns } from "../../src/registrar/model/path-pattern";
import { startCsiDriver, startKubelet } from "../../src/testing";
import { startCli } from "../end-to-end/support/process";
import { createTempFolder } from "../support/temp-folder";
import { readText } from "./markdown";

interface DaemonSet {
  readonly spec: {
    readonly selector: { readonly matchLabels: object };
    readonly updateStrategy: { readonly rollingUpdate: object };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly containers: readonly [
          {
            readonly args: readonly string[];
            readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
            readonly volumeMounts: readonly {
              readonly name: string;
              readonly mountPath: string;
              readonly readOnly?: boolean;
              readonly mountPropagation?: string;
            }[];
          },
        ];
        readonly volumes: readonly { readonly name: string; readonly hostPath: { readonly path: string } }[];
      };
    };
  };
}

const { spec }: DaemonSet = parse(readText("examples/node-wide.yaml"));
const pod = spec.template.spec;
const [registrar] = pod.containers;
const mountAt = (path: string) => registrar.volumeMounts.find(({ mountPath }) => mountPath === path);
const hostPathAt = (path: string) =>
  pod.volumes.find(({ name }) => name === mountAt(path)?.name)?.hostPath.path;

test("it selects its own pods, and needs no second one to go before the first", () => {
  expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
  expect(spec.updateStrategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
});

test("what it is told to call a driver's socket is what the socket is called on the host", () => {
  const line = parseFlags(registrar.args);
  if (line.kind !== "flags") throw new Error(line.kind);
  const { csiAddress, kubeletRegistrationPath } = line.flags.every;
  for (const pair of pairPatterns(csiAddress, kubeletRegistrationPath)) {
    const inside = fillPattern(pair.csiAddress, ["x.csi"]);
    expect(inside.replace(/^\/plugins/, hostPathAt("/plugins") ?? "")).toBe(
      fillPattern(pair.kubeletRegistrationPath, ["x.csi"]),
    );
  }
  expect(hostPathAt("/registration")).toBe("/var/lib/kubelet/plugins_registry");
  expect(`:${registrar.ports[0]?.containerPort}`).toBe(line.flags.httpEndpoint);
});

test("it keeps no copy of the volumes that kubelet mounts below the drivers' folder", () => {
  expect(mountAt("/plugins")).toMatchObject({ readOnly: true, mountPropagation: "HostToContainer" });
});

test("its arguments register every driver of a node", async () => {
  await using folder = await createTempFolder();
  const pluginRegistrationPath = folder.at("reg");
  const start = async (name: string) => {
    await mkdir(folder.at("p", name), { recursive: true });
    return startCsiDriver({ csiAddress: folder.at("p", name, "csi.sock"), name, nodeId: "n" });
  };
  await using kubelet = await startKubelet({
    pluginRegistrationPath,
    reconcilePeriodMs: 50,
    waitTimeoutMs: 60_000,
  });
  const [disk, nfs] = ["disk.csi.example.com", "nfs.csi.example.com"] as const;
  await using _disk = await start(disk);
  await using _nfs = await start(nfs);

  const args = registrar.args
    .map((arg) => arg.replace(/=(\/plugins|\/var\/lib\/kubelet\/plugins)\//, `=${folder.at("p")}/`))
    .map((arg) => arg.replace(/^--http-endpoint=.*/, "--http-endpoint=localhost:0"));
  await using _registrar = startCli([...args, `--plugin-registration-path=${pluginRegistrationPath}`]);
  for (const name of [disk, nfs])
    expect(await kubelet.registered(name)).toMatchObject({ endpoint: folder.at("p", name, "csi.sock") });
});
