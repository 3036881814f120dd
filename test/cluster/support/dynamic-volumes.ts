import { readFileSync } from "node:fs";
import { rightsPath } from "./build";
import type { Cluster } from "./cluster";
import { dynamicPrograms, IMAGES, SIDECARS } from "./images";
import { containerOf, exampleObjects, NAMESPACE, objectsIn, type Plugin, podWith } from "./objects";
import { type Change, podRuns, type Stage } from "./stage";
import { until } from "./until";

export const hasDynamicVolumes = dynamicPrograms() !== undefined;

const labels = { "app.kubernetes.io/part-of": "dynamic-volumes" };
const SELECTED = "--selector=app.kubernetes.io/part-of=dynamic-volumes";
const ACCOUNT = "dynamic-volumes";

interface Claim {
  readonly spec: { readonly volumeName: string };
  readonly status: { readonly phase: string; readonly capacity?: { readonly storage: string } };
}

/** Applies the plugin with Kubernetes' hostpath driver, which attaches, and leaves its socket to a successor. */
export function applyDynamic(stage: Stage, change: Change): Promise<void> {
  const [csiDriver] = exampleObjects(stage.contestant, stage.plugin);
  const spec = { attachRequired: true, podInfoOnMount: true, volumeLifecycleModes: ["Persistent"] };
  return stage.apply(
    (daemonSet) => {
      const driver = containerOf(daemonSet, "hostpath");
      driver.image = IMAGES.hostpath;
      driver.command = ["/podprogram", "leave", "/hostpathplugin"];
      driver.args.push("--enable-attach");
      change(daemonSet);
    },
    stage.contestant,
    { ...csiDriver, spec },
  );
}

/** Applies the sidecars in a pod of their own: else an update of the node plugin would make two provisioners. */
export async function applySidecars(cluster: Cluster, plugins: readonly Plugin[]): Promise<void> {
  const roles = SIDECARS.flatMap((sidecar) =>
    objectsIn<{ kind: string; metadata: { name: string } }>(readFileSync(rightsPath(sidecar), "utf8"))
      .filter(({ kind }) => kind === "ClusterRole")
      .map((role) => ({ ...role, metadata: { name: role.metadata.name, labels } })),
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
  await cluster.apply([account, ...roles, ...bindings, ...perPlugin]);
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

export async function usesNewClaim(
  { cluster, plugin }: Pick<Stage, "cluster" | "plugin">,
  name: string,
  limitMs?: number,
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
  const pod = podWith(name, { persistentVolumeClaim: { claimName: name } });
  await cluster.apply([claim, { ...pod, metadata: { ...pod.metadata, labels } }]);
  await podRuns(cluster, name, limitMs);
  return (await claimOf(cluster, name)).spec.volumeName;
}

const claimOf = ({ get }: Cluster, name: string) =>
  get<Claim>(`/api/v1/namespaces/default/persistentvolumeclaims/${name}`);

export async function resize(cluster: Cluster, name: string, size: string, limitMs?: number): Promise<void> {
  const patch = JSON.stringify({ spec: { resources: { requests: { storage: size } } } });
  await cluster.kubectl("patch", "persistentvolumeclaim", name, `--patch=${patch}`);
  await until(
    async () => expect((await claimOf(cluster, name)).status.capacity?.storage).toBe(size),
    `the claim ${name} has ${size}`,
    limitMs,
  );
}

export async function removeDynamicVolumes({ kubectl, get }: Cluster): Promise<void> {
  await kubectl("delete", "pod,persistentvolumeclaim", SELECTED, "--timeout=90s");
  await until(async () => {
    for (const path of ["/api/v1/persistentvolumes", "/apis/storage.k8s.io/v1/volumeattachments"])
      expect((await get<{ items: object[] }>(path)).items).toEqual([]);
  }, "the volumes are deleted");
  const kinds = "deployment,serviceaccount,storageclass,clusterrole,clusterrolebinding";
  await kubectl("delete", kinds, SELECTED, `--namespace=${NAMESPACE}`, "--timeout=60s");
}
