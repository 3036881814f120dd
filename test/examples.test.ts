import { parse, parseAllDocuments } from "yaml";
import { readText } from "./docs/markdown";

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
