import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { eventually } from "../../support/eventually";
import { rightsPath } from "./build";
import type { Cluster } from "./cluster";
import { dynamicPrograms, IMAGES, SIDECARS } from "./images";
import { containerOf, exampleObjects, NAMESPACE, type Plugin, podWith } from "./objects";
import type { Change, Pod, Stage } from "./stage";

/** Whether the hostpath driver and the sidecars of dynamic volumes were built. */
export const hasDynamicVolumes = dynamicPrograms() !== undefined;

/** On every object that {@link removeDynamicVolumes} removes. */
const labels = { "app.kubernetes.io/part-of": "dynamic-volumes" };
const SELECTED = "--selector=app.kubernetes.io/part-of=dynamic-volumes";
const ACCOUNT = "dynamic-volumes";

interface Claim {
  readonly spec: { readonly volumeName: string };
  readonly status: { readonly phase: string; readonly capacity?: { readonly storage: string } };
}

/** Kubernetes' hostpath driver, which attaches, and leaves its socket to a successor. */
export const dynamicDriver: Change = (daemonSet) => {
  const driver = containerOf(daemonSet, "hostpath");
  driver.image = IMAGES.hostpath;
  driver.command = ["/podprogram", "leave", "/hostpathplugin"];
  driver.args.push("--enable-attach");
};

/** Applies the plugin, changed, with a CSIDriver whose volumes are provisioned and attached. */
export function applyDynamic(stage: Stage, change: Change = () => {}): Promise<void> {
  const [csiDriver] = exampleObjects(stage.contestant, stage.plugin);
  const spec = { attachRequired: true, podInfoOnMount: true, volumeLifecycleModes: ["Persistent"] };
  return stage.apply(
    (daemonSet) => {
      dynamicDriver(daemonSet);
      change(daemonSet);
    },
    stage.contestant,
    { ...csiDriver, spec },
  );
}

/**
 * Applies the sidecars of plugins, with the rights of their projects. They have a pod of their own, as beside most drivers,
 * so that an update of the node plugin does not make two provisioners.
 */
export async function applySidecars({ kubectlWith }: Cluster, plugins: readonly Plugin[]): Promise<void> {
  const roles = SIDECARS.flatMap((sidecar) =>
    parseAllDocuments(readFileSync(rightsPath(sidecar), "utf8"))
      .map((document) => document.toJS() as { kind: string; metadata: { name: string } } | null)
      .filter((object) => object?.kind === "ClusterRole")
      .map((role) => ({ ...role, metadata: { name: role?.metadata.name, labels } })),
  );
  const rbac = "rbac.authorization.k8s.io";
  const bindings = roles.map(({ metadata }) => ({
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata,
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: metadata.name },
    subjects: [{ kind: "ServiceAccount", name: ACCOUNT, namespace: NAMESPACE }],
  }));
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { ...placed(ACCOUNT), labels } };
  const perPlugin = plugins.flatMap((plugin) => [storageClass(plugin), deployment(plugin)]);
  await kubectlWith([account, ...roles, ...bindings, ...perPlugin], "apply", "--validate=strict");
}

const placed = (name: string) => ({ name, namespace: NAMESPACE });

function storageClass({ driver }: Plugin): object {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: driver, labels },
    provisioner: driver,
    volumeBindingMode: "WaitForFirstConsumer",
    allowVolumeExpansion: true,
  };
}

function deployment({ driver, daemonSet }: Plugin): object {
  const podLabels = { ...labels, "app.kubernetes.io/name": `sidecars-of-${daemonSet}` };
  const volumeMounts = [{ name: "plugin-dir", mountPath: "/csi" }];
  const hostPath = { path: `/var/lib/kubelet/plugins/${driver}`, type: "DirectoryOrCreate" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...placed(`sidecars-of-${daemonSet}`), labels },
    spec: {
      selector: { matchLabels: podLabels },
      template: {
        metadata: { labels: podLabels },
        spec: {
          serviceAccountName: ACCOUNT,
          terminationGracePeriodSeconds: 2,
          containers: SIDECARS.map((name) => ({
            name,
            image: IMAGES[name],
            args: ["--csi-address=/csi/csi.sock", "--v=2"],
            volumeMounts,
          })),
          volumes: [{ name: "plugin-dir", hostPath }],
        },
      },
    },
  };
}

/** Creates a claim and a pod that uses it; resolves with the claim's volume when the pod runs. */
export async function usesNewClaim(
  { cluster, plugin }: Pick<Stage, "cluster" | "plugin">,
  name: string,
  limitMs = 90_000,
): Promise<string> {
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "default", labels },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: plugin.driver,
      resources: { requests: { storage: "1Mi" } },
    },
  };
  const pod = podWith(name, { persistentVolumeClaim: { claimName: name } }) as { metadata: object };
  const labelled = { ...pod, metadata: { ...pod.metadata, labels } };
  await cluster.kubectlWith([claim, labelled], "apply");
  return eventually(
    async () => {
      const { status } = await cluster.get<Pod>(`/api/v1/namespaces/default/pods/${name}`);
      if (status.phase !== "Running") throw new Error(`the pod is ${status.phase}`);
      return (await claimOf(cluster, name)).spec.volumeName;
    },
    { what: `a pod with a dynamic volume of ${plugin.driver} runs`, limitMs },
  );
}

const claimOf = ({ get }: Cluster, name: string) =>
  get<Claim>(`/api/v1/namespaces/default/persistentvolumeclaims/${name}`);

/** Asks for another size of a claim; resolves when kubelet has reported that the volume has it. */
export async function resize(cluster: Cluster, name: string, size: string, limitMs = 90_000): Promise<void> {
  const patch = JSON.stringify({ spec: { resources: { requests: { storage: size } } } });
  await cluster.kubectl("patch", "persistentvolumeclaim", name, `--patch=${patch}`);
  await eventually(
    async () => {
      const { status } = await claimOf(cluster, name);
      if (status.capacity?.storage !== size) throw new Error(`it has ${status.capacity?.storage}`);
    },
    { what: `the claim ${name} has ${size}`, limitMs },
  );
}

/** Removes pods and claims, and, when their volumes are gone, the sidecars. */
export async function removeDynamicVolumes({ kubectl, get }: Cluster): Promise<void> {
  await kubectl("delete", "pod,persistentvolumeclaim", SELECTED, "--timeout=90s");
  await eventually(
    async () => {
      for (const kind of ["persistentvolumes", "volumeattachments"]) {
        const group = kind === "persistentvolumes" ? "/api/v1" : "/apis/storage.k8s.io/v1";
        const { items } = await get<{ items: object[] }>(`${group}/${kind}`);
        if (items.length > 0) throw new Error(`${items.length} ${kind} are left`);
      }
    },
    { what: "the volumes are deleted", limitMs: 90_000 },
  );
  const kinds = "deployment,serviceaccount,storageclass,clusterrole,clusterrolebinding";
  await kubectl("delete", kinds, SELECTED, `--namespace=${NAMESPACE}`, "--timeout=60s");
}
