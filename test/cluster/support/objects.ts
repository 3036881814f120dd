import { parseAllDocuments } from "yaml";
import { readText } from "../../docs/markdown";
import { givenPrograms, IMAGES } from "./images";

export interface Container {
  name: string;
  image: string;
  args: string[];
  [field: string]: unknown;
}

export interface DaemonSet {
  readonly kind: "DaemonSet";
  readonly metadata: { name: string; readonly namespace: string };
  readonly spec: {
    readonly selector: unknown;
    readonly updateStrategy: { type: string; rollingUpdate: Record<string, unknown> };
    readonly template: {
      readonly metadata: { annotations?: Record<string, string>; readonly labels: Record<string, string> };
      readonly spec: { readonly containers: Container[]; [field: string]: unknown };
    };
  };
}

/** A registrar that is played: its name in tables, and its image. */
export interface Contestant {
  readonly name: "ours" | "official";
  readonly image: string;
}

export const OURS: Contestant = { name: "ours", image: process.env.REGISTRAR_IMAGE ?? IMAGES.ours };
export const OFFICIAL: Contestant = { name: "official", image: IMAGES.official };
/** Ours, and the official registrar where its binary is given. */
export const CONTESTANTS = givenPrograms().official ? [OURS, OFFICIAL] : [OURS];

/** What the example registers. */
export const DRIVER = "hostpath.csi.k8s.io";
export const DAEMON_SET = "csi-hostpath-node";
export const NAMESPACE = "kube-system";
export const LABEL = `app.kubernetes.io/name=${DAEMON_SET}`;
export const REGISTRATION_SOCKET = `/var/lib/kubelet/plugins_registry/${DRIVER}-reg.sock`;

/** The objects of examples/daemonset.yaml, with images of the suite. */
export function exampleObjects({ name, image }: Contestant = OURS): readonly [object, DaemonSet] {
  const [csiDriver, daemonSet] = parseAllDocuments(readText("examples/daemonset.yaml")).map((document) =>
    document.toJS(),
  ) as [object, DaemonSet];
  const registrar = containerOf(daemonSet, "registrar");
  registrar.image = image;
  // It serves /healthz only.
  if (name === "official") delete registrar.readinessProbe;
  containerOf(daemonSet, "hostpath").image = givenPrograms().hostpath ? IMAGES.hostpath : IMAGES.driver;
  return [csiDriver, daemonSet];
}

export function containerOf({ spec }: DaemonSet, name: string): Container {
  const found = spec.template.spec.containers.find((container) => container.name === name);
  if (!found) throw new Error(`the DaemonSet has no container ${name}`);
  return found;
}

/** A pod with an inline volume of the driver, in which it writes and reads a text. */
export function podWithVolume(name: string, driver = DRIVER): object {
  return podWith(name, { csi: { driver, volumeAttributes: { size: "1Mi" } } });
}

/** A pod that writes a text to a volume and reads it. */
export function podWith(name: string, volume: object): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: {
      restartPolicy: "Never",
      tolerations: [{ operator: "Exists" }],
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
      volumes: [{ name: "data", ...volume }],
    },
  };
}
