import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT, readText } from "../../docs/markdown";
import { parseAll } from "../../support/yaml";
import { IMAGES, officialProgram } from "./images";

export interface Container {
  name: string;
  image: string;
  args: string[];
  [field: string]: unknown;
}

export interface PodSpec {
  readonly containers: readonly Container[];
}

export interface DaemonSet {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly updateStrategy: { rollingUpdate: object };
    readonly template: {
      readonly metadata: { annotations?: Record<string, string> };
      readonly spec: PodSpec & { readonly containers: Container[]; [field: string]: unknown };
    };
  };
}

export interface Contestant {
  readonly name: "ours" | "official";
  readonly image: string;
}

export const OURS: Contestant = { name: "ours", image: IMAGES.ours };
export const OFFICIAL: Contestant = { name: "official", image: IMAGES.official };
export const CONTESTANTS = officialProgram ? [OURS, OFFICIAL] : [OURS];

/** A node plugin as the suite calls it: that of the example, or one of several beside each other. */
export interface Plugin {
  readonly driver: string;
  readonly daemonSet: string;
}

export const EXAMPLE: Plugin = { driver: "hostpath.csi.k8s.io", daemonSet: "csi-hostpath-node" };
export const NAMESPACE = "kube-system";
/** A plugin's own node label, whose value its driver tells as topology. */
export const TOPOLOGY_KEY = "topology.hostpath.csi/node";

/** What the example says of refusals; without it ours ends as the official one does. */
export const RETRY = "--on-registration-failure=retry";

export const registrationSocketOf = ({ driver }: Plugin): string =>
  `/var/lib/kubelet/plugins_registry/${driver}-reg.sock`;

/** The objects of examples/daemonset.yaml, with images of the suite; a plugin of another name gets that everywhere. */
export function exampleObjects(
  { name, image }: Contestant = OURS,
  plugin: Plugin = EXAMPLE,
): readonly [{ readonly kind: string }, DaemonSet] {
  const text = readText("examples/daemonset.yaml")
    .replaceAll(EXAMPLE.driver, plugin.driver)
    .replaceAll(EXAMPLE.daemonSet, plugin.daemonSet)
    .replaceAll("/var/lib/csi-hostpath-data", `/var/lib/${plugin.daemonSet}-data`);
  const [csiDriver, daemonSet] = objectsIn(text) as readonly [{ readonly kind: string }, DaemonSet];
  const registrar = containerOf(daemonSet, "registrar");
  registrar.image = image;
  if (name === "official") {
    // It serves /healthz only, and ends when kubelet refuses the driver.
    delete registrar.readinessProbe;
    registrar.args = registrar.args.filter((arg) => arg !== RETRY);
  }
  containerOf(daemonSet, "hostpath").image = IMAGES.driver;
  return [csiDriver, daemonSet];
}

/** The objects of examples/driver/deploy.yaml; for its pod, the driver's own image has a shell as busybox does. */
export function exampleDriverObjects(): readonly { readonly kind: string }[] {
  const text = readText("examples/driver/deploy.yaml");
  return objectsIn<{ kind: string }>(text.replaceAll(/image: \S+/g, `image: ${IMAGES.exampleDriver}`));
}

export const objectsIn = <One = object>(text: string): readonly One[] => parseAll(text);

export function containerOf({ spec }: DaemonSet, name: string): Container {
  const found = spec.template.spec.containers.find((container) => container.name === name);
  if (!found) throw new Error(`the DaemonSet has no container ${name}`);
  return found;
}

const TOLERATES_ALL: readonly object[] = [{ operator: "Exists" }];

export function podWithVolume(name: string, driver: string, tolerations = TOLERATES_ALL): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: {
      restartPolicy: "Never",
      tolerations,
      terminationGracePeriodSeconds: 2,
      automountServiceAccountToken: false,
      containers: [
        {
          name: "workload",
          image: IMAGES.workload,
          args: ["/data", `text of ${name}`],
          volumeMounts: [{ name: "data", mountPath: "/data" }],
        },
      ],
      volumes: [{ name: "data", csi: { driver, volumeAttributes: { size: "1Mi" } } }],
    },
  };
}

export function writtenManifest(...flags: readonly string[]): readonly { readonly kind: string }[] {
  const image = flags.includes("--drop") ? [] : [`--image=${OURS.image}`];
  const words = [join(ROOT, "dist", "cli.js"), "manifest", ...image, ...flags];
  return objectsIn(execFileSync(process.execPath, words, { encoding: "utf8" }));
}

/** The two arguments that each driver has, and what the suite's driver is to be called. */
export const driverArgs = (name: string): readonly string[] => [
  "--driver-arg=--endpoint=unix:///csi/csi.sock",
  "--driver-arg=--nodeid=$(NODE_NAME)",
  `--driver-arg=--drivername=${name}`,
];
