import { type Container, PODS, type Template } from "../charts/pods";
import { useCluster } from "./support/cluster";
import { applyPolicy, changesOf, enforced, IMAGE, OURS, onNode, type PodSpec } from "./support/dry-pods";

const RETRY = "--on-registration-failure=retry";

const cluster = useCluster(async (started) => {
  await applyPolicy(started, "charts", IMAGE, `--arg=${RETRY}`, "--metrics-port=9809");
  await enforced(started, "charts");
});

const WORKLOADS = PODS.flatMap(({ project, path, workloads }) =>
  workloads.map(
    ({ kind, metadata, spec }) => [`${project} ${path} ${metadata.name}`, kind, spec.template.spec] as const,
  ),
);

/** The names of Secrets and ConfigMaps, which the rows leave out, and their volumes: the API server insists on them. */
function completed({ containers, initContainers = [], volumes = [], ...rest }: Template): PodSpec {
  const complete = ({ envFrom: _, resources, ...container }: Container) => ({
    ...container,
    resources: JSON.stringify(resources)?.includes("{{") ? undefined : resources,
    env: container.env?.map(({ valueFrom, ...variable }) =>
      valueFrom && "fieldRef" in valueFrom ? { ...variable, valueFrom } : variable,
    ),
  });
  const mounted = [...containers, ...initContainers].flatMap(({ volumeMounts = [] }) => volumeMounts);
  const names = new Set([...volumes, ...mounted].map(({ name }) => name));
  const known = new Map(volumes.map((volume) => [volume.name, volume]));
  return {
    ...rest,
    containers: containers.map(complete),
    initContainers: initContainers.map(complete),
    volumes: [...names].map((name) => (known.get(name)?.hostPath ? known.get(name) : { name, emptyDir: {} })),
  };
}

function podOf(kind: string, { serviceAccount: _, serviceAccountName: __, ...rest }: Template): PodSpec {
  const template = completed(rest);
  return kind === "DaemonSet" ? onNode("node-1", template) : template;
}

const isForWindows = ({ nodeSelector }: Template) => nodeSelector?.["kubernetes.io/os"] === "windows";
const isRegistrar = ({ image }: Container) => /\bcsi-node-driver-registrar(?:-rhel9)?(?:[:@]|$)/.test(image);
/** What may change of a registrar; image-policy.test.ts says when. */
const CHANGED = /^(?:image|args|ports(?:\.\d+)?|resources\.limits\.memory|livenessProbe\.timeoutSeconds)$/;

/** The places of the registrars for Linux: `containers.1`. */
const placesIn = (template: Template) =>
  (["containers", "initContainers"] as const).flatMap((list) =>
    (template[list] ?? []).flatMap((one, at) => (isRegistrar(one) ? `${list}.${at}.` : [])),
  );

test.each(WORKLOADS)(
  "%s: each registrar for Linux is changed, and nothing else",
  async (_name, kind, template) => {
    const changes = Object.entries(await changesOf(cluster, "charts", podOf(kind, template)));
    const places = isForWindows(template) ? [] : placesIn(template);
    for (const place of places) {
      expect(changes).toContainEqual([`${place}image`, OURS]);
      expect(changes).toContainEqual([`${place}args`, expect.arrayContaining([RETRY])]);
    }
    for (const [path] of changes) {
      const place = places.find((one) => path.startsWith(one)) ?? "of no registrar";
      expect(path.replace(place, "")).toMatch(CHANGED);
    }
  },
);
