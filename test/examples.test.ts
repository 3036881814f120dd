import { mkdir } from "node:fs/promises";
import { parse, parseAllDocuments } from "yaml";
import { startCsiDriver, startKubelet } from "../src/testing";
import { readText } from "./docs/markdown";
import { startCli } from "./end-to-end/support/process";
import { createTempFolder } from "./support/temp-folder";

// What the doctor judges of them is in test/cli/commands/doctor-manifests.test.ts.

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly volumeMounts: readonly Readonly<Record<string, string | boolean>>[];
}

const podOf = (daemonSet: { readonly spec: { readonly template: object } }) =>
  daemonSet.spec.template as {
    readonly metadata: { readonly labels: object };
    readonly spec: { readonly containers: readonly Container[] };
  };

test("examples/daemonset.yaml: the driver listens where registrar looks, under the CSIDriver's name", () => {
  const documents = parseAllDocuments(readText("examples/daemonset.yaml"));
  const [csiDriver, daemonSet] = documents.map((document) => document.toJS());
  expect([csiDriver.kind, daemonSet.kind]).toEqual(["CSIDriver", "DaemonSet"]);
  const { metadata, spec } = podOf(daemonSet);
  expect(metadata.labels).toMatchObject(daemonSet.spec.selector.matchLabels);
  const [registrar, driver] = ["registrar", "hostpath"].map((name) =>
    spec.containers.find((one) => one.name === name),
  );
  expect(registrar?.args).toContain("--csi-address=/csi/csi.sock");
  expect(driver?.args).toContain("--endpoint=unix:///csi/csi.sock");
  expect(driver?.args).toContain(`--drivername=${csiDriver.metadata.name}`);
  const [ours, theirs] = [registrar, driver].map(
    (container) => container?.volumeMounts.find(({ mountPath }) => mountPath === "/csi")?.name,
  );
  expect([typeof ours, theirs]).toEqual(["string", ours]);
});

test("examples/node-wide.yaml: it selects its own pods, and keeps no copy of the volumes below the drivers' folder", () => {
  const daemonSet = parse(readText("examples/node-wide.yaml"));
  const { metadata, spec } = podOf(daemonSet);
  expect(metadata.labels).toMatchObject(daemonSet.spec.selector.matchLabels);
  expect(daemonSet.spec.updateStrategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  const mounts = spec.containers[0]?.volumeMounts ?? [];
  expect(mounts.find(({ mountPath }) => mountPath === "/plugins")).toMatchObject({
    readOnly: true,
    mountPropagation: "HostToContainer",
  });
});

test("examples/node-wide.yaml: its arguments register every driver of a node", async () => {
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

  const { spec } = parse(readText("examples/node-wide.yaml"));
  const [registrar]: readonly Container[] = spec.template.spec.containers;
  const args = (registrar?.args ?? [])
    .map((arg) => arg.replace(/=(\/plugins|\/var\/lib\/kubelet\/plugins)\//, `=${folder.at("p")}/`))
    .map((arg) => arg.replace(/^--http-endpoint=.*/, "--http-endpoint=localhost:0"));
  await using _registrar = startCli([...args, `--plugin-registration-path=${pluginRegistrationPath}`]);
  for (const name of [disk, nfs])
    expect(await kubelet.registered(name)).toMatchObject({ endpoint: folder.at("p", name, "csi.sock") });
});
