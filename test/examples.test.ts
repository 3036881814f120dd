import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseAllDocuments } from "yaml";
import { parseFlags } from "../src/cli/flags";

const read = (path: string) => readFileSync(join(__dirname, "..", path), "utf8");

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe?: { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface DaemonSet {
  readonly spec: {
    readonly selector: { readonly matchLabels: object };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly containers: readonly Container[];
        readonly volumes: readonly { readonly name: string; readonly hostPath: { readonly path: string } }[];
      };
    };
  };
}

describe("examples/daemonset.yaml", () => {
  const documents = parseAllDocuments(read("examples/daemonset.yaml"));
  const [csiDriver, daemonSet] = documents.map((document) => document.toJS()) as [
    { readonly kind: string; readonly metadata: { readonly name: string } },
    DaemonSet & { readonly kind: string },
  ];
  const { spec: pod, metadata } = daemonSet.spec.template;
  const container = (name: string) => pod.containers.find((one) => one.name === name) as Container;
  const registrar = container("registrar");
  const commandLine = parseFlags(registrar.args);
  const flags = commandLine.kind === "flags" ? commandLine.flags : undefined;

  /** A path in a container, as the host sees it. */
  const onHost = ({ volumeMounts }: Container, path: string) => {
    const mount = volumeMounts.find(({ mountPath }) => mountPath === dirname(path));
    const volume = pod.volumes.find(({ name }) => name === mount?.name);
    return volume && join(volume.hostPath.path, path.slice(dirname(path).length));
  };

  test("is valid YAML: a CSIDriver and a DaemonSet that selects its own pods", () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    expect([csiDriver.kind, daemonSet.kind]).toEqual(["CSIDriver", "DaemonSet"]);
    expect(metadata.labels).toMatchObject(daemonSet.spec.selector.matchLabels);
  });

  test("means one socket by the driver's endpoint, the CSI address and the kubelet registration path", () => {
    const driver = container("hostpath");
    const endpoint = driver.args
      .find((arg) => arg.startsWith("--endpoint="))
      ?.replace("--endpoint=unix://", "");
    expect(onHost(driver, endpoint ?? "")).toBe(flags?.kubeletRegistrationPath);
    expect(onHost(registrar, flags?.csiAddress ?? "")).toBe(flags?.kubeletRegistrationPath);
  });

  test("puts the registration socket where kubelet looks", () => {
    expect(onHost(registrar, `${flags?.pluginRegistrationPath}/x`)).toBe(
      "/var/lib/kubelet/plugins_registry/x",
    );
  });

  test("calls the driver by one name", () => {
    expect(container("hostpath").args).toContain(`--drivername=${csiDriver.metadata.name}`);
  });

  test("probes the port that registrar serves", () => {
    const port = registrar.ports?.find(({ name }) => name === registrar.livenessProbe?.httpGet.port);
    expect(`:${port?.containerPort}`).toBe(flags?.httpEndpoint);
    expect(registrar.livenessProbe?.httpGet.path).toBe("/healthz");
  });
});
