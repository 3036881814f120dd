import { execFile } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../docs/markdown";
import { eventually } from "../../support/eventually";
import { createTempFolder } from "../../support/temp-folder";
import {
  type AuthorsPlugin,
  allOf,
  chartsStage,
  isRegistrar,
  nameImages,
  type PodSpec,
  registrarsIn,
  type Workload,
} from "../support/author-plugins";
import { kubectlEnvironment } from "../support/cluster";
import { hasKyverno, startKyverno } from "../support/kyverno";
import type { Node } from "../support/node";
import { containerOf, exampleObjects, NAMESPACE, OURS, RETRY } from "../support/objects";
import { type Change, createStage, insideOf, type Pod, type Stage } from "../support/stage";
import { cluster, insideTest, sayLeftOut, untilListed } from "../support/use-cluster";
import { writtenManifest } from "../support/written-manifest";

type Objects = readonly { readonly kind: string }[];

/** What a chart's author wrote: the official registrar; where its binary is missing, ours under the official name. */
const AUTHORS = { name: "official", image: "localhost/csi-node-driver-registrar:test" } as const;
const swapping = () => writtenManifest("--image-policy", `--arg=${RETRY}`);

const pluginOf = ({ plugin }: Stage): AuthorsPlugin => {
  const workload: unknown = exampleObjects(AUTHORS, plugin)[1];
  return { drivers: [plugin.driver], workload: workload as Workload };
};
/** A pod's containers: as the author wrote them, with the registrars swapped, and without them. */
const authors = ({ workload }: AuthorsPlugin) => allOf(workload.spec.template.spec);
/** The official registrar ends at the unknown flag: that a driver with it is registered shows which program runs. */
const swapped = (plugin: AuthorsPlugin) =>
  authors(plugin).map((one) =>
    isRegistrar(one) ? { ...one, image: OURS.image, args: [RETRY, ...one.args] } : one,
  );
const dropped = (plugin: AuthorsPlugin) => authors(plugin).filter((one) => !isRegistrar(one));

const remove = (objects: readonly object[]) =>
  cluster().kubectlWith(objects, "delete", "--ignore-not-found", "--wait=true");
const report = (what: string, times: readonly number[]) =>
  process.stdout.write(`${what}: ${times.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(", ")}\n`);

/** A driver that the author's registrar has registered. */
async function authorsStage(name: string, change?: Change, second?: Node): Promise<Stage> {
  const stage = createStage(cluster(), AUTHORS, { driver: `${name}.csi.example.com`, daemonSet: name });
  for (const node of [undefined, ...(second ? [second] : [])])
    await nameImages([pluginOf(stage).workload.spec.template.spec], node);
  await stage.apply(change);
  await stage.registered();
  return stage;
}

/** Applies or deletes objects; how long until the API server gives new pods of the plugin these containers. */
async function change(verb: "apply" | "delete", objects: Objects, plugin: AuthorsPlugin, expected: object) {
  const { kubectlWith } = cluster();
  await kubectlWith(objects, verb, ...(verb === "apply" ? ["--server-side", "--validate=strict"] : []));
  const begin = performance.now();
  const metadata = { name: "dry", namespace: NAMESPACE };
  const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: plugin.workload.spec.template.spec };
  await eventually(
    async () => {
      const made = await kubectlWith([pod], "create", "--dry-run=server", "--output=json");
      expect(allOf((JSON.parse(made) as { spec: PodSpec }).spec)).toEqual(expected);
    },
    { what: `new pods have ${JSON.stringify(expected)}` },
  );
  report(`${verb} of a policy, until new pods follow it`, [performance.now() - begin]);
}

/** Waits until CSINode has listed the drivers for 4 s, when nothing from before ends that; how long it lacked them. */
async function missingMs({ drivers }: AuthorsPlugin, from: number): Promise<number> {
  const { record } = cluster();
  const missing = drivers.map(async (driver) => {
    const listedMs = () => performance.now() - Math.max(record.since(driver), from);
    const staysListed = () => expect(record.isListed(driver) && listedMs() > 4_000).toBe(true);
    await eventually(staysListed, { what: `CSINode lists ${driver} for 4 s` });
    return record.missingMs(driver, from, performance.now());
  });
  return Math.max(...(await Promise.all(missing)));
}

/** Restarts a workload, which stays as its author wrote it; its new pod is ready then. What containers that has. */
async function restart({ workload }: AuthorsPlugin, meanwhile?: () => Promise<unknown>) {
  const { kubectl, get } = cluster();
  const { kind, metadata, spec } = workload;
  const target = [`${kind.toLowerCase()}/${metadata.name}`, `--namespace=${metadata.namespace}`];
  await kubectl("rollout", "restart", ...target);
  await meanwhile?.();
  await kubectl("rollout", "status", ...target, "--timeout=90s");

  const kept = await get<Workload>(
    `/apis/apps/v1/namespaces/${metadata.namespace}/${kind.toLowerCase()}s/${metadata.name}`,
  );
  expect(allOf(kept.spec.template.spec)).toEqual(allOf(spec.template.spec));
  const labels = Object.entries(spec.selector.matchLabels).map((label) => label.join("="));
  const { items } = await get<{ items: { metadata: { deletionTimestamp?: string }; spec: PodSpec }[] }>(
    `/api/v1/namespaces/${metadata.namespace}/pods?labelSelector=${encodeURIComponent(labels.join(","))}`,
  );
  const pods = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  expect(pods).toHaveLength(1);
  return pods.flatMap((pod) => allOf(pod.spec));
}

/** Restarts them one after the other; each has the containers that are expected, and is listed again. */
async function restartAll(
  what: string,
  plugins: readonly AuthorsPlugin[],
  expected: (plugin: AuthorsPlugin) => object,
): Promise<void> {
  const begun = new Map<AuthorsPlugin, number>();
  for (const plugin of plugins) {
    begun.set(plugin, performance.now());
    expect(await restart(plugin)).toEqual(expected(plugin));
    for (const driver of plugin.drivers) await untilListed(driver);
  }
  for (const [plugin, from] of begun)
    report(`${what}, CSINode lacked ${plugin.drivers}`, [await missingMs(plugin, from)]);
}

interface DoctorReport {
  readonly findings: readonly Readonly<Record<string, string>>[];
  readonly registrars: readonly { readonly daemonSet: string; readonly changed: number | null }[];
}

/** What `doctor --cluster` reports. */
async function doctorReport(): Promise<DoctorReport> {
  await using folder = await createTempFolder();
  const words = [join(ROOT, "dist", "cli.js"), "doctor", "--cluster", "--output=json"];
  const env = kubectlEnvironment(folder.path, insideOf(cluster()));
  // It exits with 1 if it finds a problem.
  const text = await new Promise<string>((resolve) =>
    execFile(process.execPath, words, { env }, (_error, stdout) => resolve(stdout)),
  );
  return JSON.parse(text);
}

/** What it finds about policies: codes, and texts. */
async function doctorSays(): Promise<string> {
  const { findings } = await doctorReport();
  return findings
    .filter(({ code = "" }) => ["CSI212", "CSI215", "CSI216"].includes(code))
    .map((one) => `${one.code} ${one.status}: ${one.subject} ${one.text}`)
    .join("\n");
}

/** Each registrar is swapped, dropped, and comes back, by the policies of one engine. */
async function thereAndBack(engine: string): Promise<void> {
  await using stage = await authorsStage("fifth");
  await using charts = await chartsStage();
  const fifth = pluginOf(stage);
  const plugins = [...charts.plugins, fifth];
  const written = (...flags: readonly string[]) =>
    writtenManifest("--image-policy", `--policy-engine=${engine}`, ...flags);
  const swap = written(`--arg=${RETRY}`);
  const nodeWide = written("--drop", "--include=daemonset");
  const policy = written("--drop", "--include=policy");
  try {
    await change("apply", swap, fifth, swapped(fifth));
    expect(await doctorSays()).toMatch(
      /^CSI215 warning: DaemonSet \S+\/fifth, container registrar has \S+ in 1 pod, made before \S+(?: MutatingPolicy)? registrar-image worked$/m,
    );
    await restartAll("official to ours", plugins, swapped);
    expect(await doctorSays()).toBe("");
    await stage.mountsVolume("user-of-swapped");

    await change("delete", swap, fifth, authors(fifth));
    await cluster().kubectlWith(nodeWide, "apply", "--server-side");
    await cluster().kubectl("rollout", "status", "daemonset/csi-registrar", `--namespace=${NAMESPACE}`);
    await change("apply", policy, fifth, dropped(fifth));
    await restartAll("ours to node-wide", plugins, dropped);
    await stage.mountsVolume("user-of-dropped");
    expect(await doctorSays()).toBe("");
    await remove(nodeWide);
    expect(await doctorSays()).toMatch(/^CSI216 problem: \S*fifth\S* has no registrar: .*$/m);
    await cluster().kubectlWith(nodeWide, "apply", "--server-side");
    await cluster().kubectl("rollout", "status", "daemonset/csi-registrar", `--namespace=${NAMESPACE}`);
    for (const plugin of plugins) await missingMs(plugin, performance.now());

    await change("delete", policy, fifth, authors(fifth));
    await restartAll("node-wide to official", plugins, authors);
    await stage.mountsVolume("user-of-given-back");
    const from = performance.now();
    await remove(nodeWide);
    for (const plugin of plugins)
      report(`node-wide deleted, CSINode lacked ${plugin.drivers}`, [await missingMs(plugin, from)]);
  } finally {
    await remove([...swap, ...policy, ...nodeWide]);
  }
}

/** The plugin's pod as the DaemonSet controller makes it for a node. */
function podOn(node: string, plugin: AuthorsPlugin): AuthorsPlugin {
  const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  const { workload } = plugin;
  const template = { ...workload.spec.template, spec: { ...workload.spec.template.spec, affinity } };
  return { ...plugin, workload: { ...workload, spec: { ...workload.spec, template } } };
}

/** Deletes a plugin's pods; the containers of the new ones by node, when CSINode lists the driver on each. */
async function renewed({ plugin: { daemonSet, driver } }: Stage, nodes: readonly string[]) {
  const { kubectl, get } = cluster();
  const selector = `app.kubernetes.io/name=${daemonSet}`;
  await kubectl("delete", "pods", `--namespace=${NAMESPACE}`, `--selector=${selector}`);
  type New = Pod & { readonly spec: PodSpec };
  type CSINode = { readonly spec: { readonly drivers: readonly { readonly name: string }[] | null } };
  return eventually(
    async () => {
      const path = `/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=${encodeURIComponent(selector)}`;
      const { items } = await get<{ items: readonly New[] }>(path);
      expect(items.map(({ spec }) => spec.nodeName).toSorted()).toEqual(nodes);
      for (const { status } of items)
        expect(status.containerStatuses?.every(({ ready }) => ready)).toBe(true);
      for (const node of nodes) {
        const { spec } = await get<CSINode>(`/apis/storage.k8s.io/v1/csinodes/${node}`);
        expect(spec.drivers?.map(({ name }) => name)).toContain(driver);
      }
      return Object.fromEntries(items.map(({ spec }) => [`${spec.nodeName}`, allOf(spec)]));
    },
    { what: `new pods of ${daemonSet} on ${nodes} have registered ${driver}`, limitMs: 120_000 },
  );
}

/** A policy changes a DaemonSet's pods on the nodes that it names, and a node that is taken off the list is given back. */
async function nodeByNode(engine: string): Promise<void> {
  await using second = await insideOf(cluster()).addNode(2);
  const nodes = [cluster().nodeName, second.name] as const;
  await using stage = await authorsStage("sixth", undefined, second);
  const plugin = pluginOf(stage);
  const written = (...named: readonly string[]) =>
    writtenManifest(
      ...["--image-policy", `--policy-engine=${engine}`, `--arg=${RETRY}`],
      ...named.map((node) => `--nodes=${node}`),
    );
  const [first, other] = nodes;
  try {
    for (const [named, changed, isSwapped, watched] of [
      [[first], 1, [true, false], first],
      [[], 2, [true, true], other],
      [[other], 1, [false, true], first],
    ] as const) {
      const expected = isSwapped.map((is) => (is ? swapped : authors)(plugin));
      await change(
        "apply",
        written(...named),
        podOn(watched, plugin),
        expected[nodes.indexOf(watched)] ?? [],
      );
      expect(await renewed(stage, nodes)).toEqual({ [first]: expected[0], [other]: expected[1] });
      expect(await doctorSays()).toBe("");
      const { registrars } = await doctorReport();
      expect(registrars.find(({ daemonSet }) => daemonSet === `${NAMESPACE}/sixth`)?.changed).toBe(changed);
    }
  } finally {
    await remove(written());
  }
}

const THERE_AND_BACK =
  "swaps the registrars of charts, another drops them for that of the node, deleted they come back";
const NODE_BY_NODE =
  "swaps them on the nodes that it names, and gives back those of a node that it names no more";

insideTest(`a policy ${THERE_AND_BACK}`, () => thereAndBack("kubernetes"));
insideTest(`a policy ${NODE_BY_NODE}`, () => nodeByNode("kubernetes"));

if (hasKyverno)
  insideTest(`a policy of Kyverno ${THERE_AND_BACK}; another ${NODE_BY_NODE}`, async () => {
    await using _kyverno = await startKyverno(cluster());
    await thereAndBack("kyverno");
    await nodeByNode("kyverno");
  });
else sayLeftOut(`a policy of Kyverno ${THERE_AND_BACK}`, "Kyverno's module");

insideTest("a policy that is deleted in the middle of a rollout leaves a driver that runs", async () => {
  await using stage = await authorsStage("interrupted");
  const plugin = pluginOf(stage);
  try {
    await change("apply", swapping(), plugin, swapped(plugin));
    const from = performance.now();
    const containers = await restart(plugin, () => remove(swapping()));
    expect([swapped(plugin), authors(plugin)]).toContainEqual(containers);
    const image = registrarsIn({ containers }).map((one) => one.image);
    report(`policy deleted meanwhile, registrar [${image}], CSINode lacked it`, [
      await missingMs(plugin, from),
    ]);
  } finally {
    await remove(swapping());
  }
});

/** Adds a second driver, whose registrar is a native sidecar. */
const withNativeSidecar =
  (first: string, second: string): Change =>
  (daemonSet) => {
    const { spec } = daemonSet.spec.template;
    const copyOf = <Thing>(thing: Thing): Thing =>
      JSON.parse(
        JSON.stringify(thing).replaceAll(first, second).replaceAll('"plugin-dir"', '"second-plugin-dir"'),
      );
    const { livenessProbe: _, ports: __, ...registrar } = copyOf(containerOf(daemonSet, "registrar"));
    const args = registrar.args.filter((arg) => !arg.startsWith("--http-endpoint"));
    spec.initContainers = [{ ...registrar, name: "second-registrar", args, restartPolicy: "Always" }];
    spec.containers.push({ ...copyOf(containerOf(daemonSet, "hostpath")), name: "second-hostpath" });
    const volumes = spec.volumes as { name: string }[];
    spec.volumes = [...volumes, ...copyOf(volumes.filter(({ name }) => name === "plugin-dir"))];
  };

insideTest("a policy swaps two registrars of one pod, one of them a native sidecar", async () => {
  const [first, second] = ["first.csi.example.com", "second.csi.example.com"];
  const addSecond = withNativeSidecar(first, second);
  await using stage = await authorsStage("first", addSecond);
  await untilListed(second);
  const workload: unknown = exampleObjects(AUTHORS, stage.plugin)[1];
  addSecond(workload as Parameters<Change>[0]);
  const plugin: AuthorsPlugin = { drivers: [first, second], workload: workload as Workload };
  expect(registrarsIn(plugin.workload.spec.template.spec)).toHaveLength(2);
  try {
    await change("apply", swapping(), plugin, swapped(plugin));
    await restartAll("official to ours", [plugin], swapped);
    await change("delete", swapping(), plugin, authors(plugin));
    await restartAll("ours to official", [plugin], authors);
  } finally {
    await remove(swapping());
  }
});
