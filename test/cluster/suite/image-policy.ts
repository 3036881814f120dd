import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../docs/markdown";
import { createTempFolder } from "../../support/temp-folder";
import { type AuthorsPlugin, allOf, chartsStage, isRegistrar, nameImages } from "../support/author-plugins";
import { kubectlEnvironment } from "../support/cluster";
import type { Node } from "../support/node";
import {
  exampleObjects,
  NAMESPACE,
  OURS,
  type PodSpec,
  RETRY,
  type Workload,
  writtenManifest,
} from "../support/objects";
import { type CSINode, createStage, insideOf, type Pod, type Stage } from "../support/stage";
import { until } from "../support/until";
import { cluster, insideTest, untilListed } from "../support/use-cluster";

/** What a chart's author wrote: the official registrar; where its binary is missing, ours under the official name. */
const AUTHORS = { name: "official", image: "localhost/csi-node-driver-registrar:test" } as const;
const swapping = (...flags: readonly string[]) =>
  writtenManifest("--image-policy", `--arg=${RETRY}`, ...flags);

const pluginOf = ({ plugin }: Stage): AuthorsPlugin => ({
  drivers: [plugin.driver],
  workload: exampleObjects(AUTHORS, plugin)[1],
});
/** A pod's containers: as the author wrote them, with the registrars swapped, and without them. */
const authors = ({ workload }: AuthorsPlugin) => allOf(workload.spec.template.spec);
/** The official registrar ends at the unknown flag: that a driver with it is registered shows which program runs. */
const swapped = (plugin: AuthorsPlugin) =>
  authors(plugin).map((one) =>
    isRegistrar(one) ? { ...one, image: OURS.image, args: [RETRY, ...one.args] } : one,
  );
const dropped = (plugin: AuthorsPlugin) => authors(plugin).filter((one) => !isRegistrar(one));

const report = (what: string, ms: number) => process.stdout.write(`${what}: ${(ms / 1000).toFixed(1)} s\n`);

async function authorsStage(name: string, ...more: readonly Node[]): Promise<Stage> {
  const stage = createStage(cluster(), AUTHORS, { driver: `${name}.csi.example.com`, daemonSet: name });
  for (const node of [insideOf(cluster()).node, ...more])
    await nameImages([pluginOf(stage).workload.spec.template.spec], node);
  await stage.apply();
  await stage.registered();
  return stage;
}

/** Applies or removes objects until the API server gives new pods of the plugin these containers. */
async function change(
  verb: "apply" | "remove",
  objects: readonly object[],
  plugin: AuthorsPlugin,
  expected: object,
) {
  await cluster()[verb](objects);
  const metadata = { name: "dry", namespace: NAMESPACE };
  const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: plugin.workload.spec.template.spec };
  await until(
    async () => {
      const made = await cluster().kubectlWith([pod], "create", "--dry-run=server", "--output=json");
      expect(allOf((JSON.parse(made) as { spec: PodSpec }).spec)).toEqual(expected);
    },
    `new pods have ${JSON.stringify(expected)}`,
  );
}

/** Waits until CSINode has listed the drivers for 4 s, when nothing from before ends that; how long it lacked them. */
async function missingMs({ drivers }: AuthorsPlugin, from: number): Promise<number> {
  const { record } = cluster();
  const missing = drivers.map(async (driver) => {
    await until(
      () => expect(record.listedMs(driver, from)).toBeGreaterThan(4_000),
      `CSINode lists ${driver}`,
    );
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

  const path = `namespaces/${metadata.namespace}/${kind.toLowerCase()}s/${metadata.name}`;
  const kept = await get<Workload>(`/apis/apps/v1/${path}`);
  expect(allOf(kept.spec.template.spec)).toEqual(allOf(spec.template.spec));
  const labels = Object.entries(spec.selector.matchLabels).map((label) => label.join("="));
  const { items } = await get<{ items: { metadata: { deletionTimestamp?: string }; spec: PodSpec }[] }>(
    `/api/v1/namespaces/${metadata.namespace}/pods?labelSelector=${encodeURIComponent(labels.join(","))}`,
  );
  const pods = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  expect(pods).toHaveLength(1);
  return pods.flatMap((pod) => allOf(pod.spec));
}

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
    report(`${what}, CSINode lacked ${plugin.drivers}`, await missingMs(plugin, from));
}

/** What `doctor --cluster` finds where policies work, and the registrars' images in the pods of each DaemonSet. */
async function doctorSays() {
  await using folder = await createTempFolder();
  const words = [join(ROOT, "dist", "cli.js"), "doctor", "--cluster", "--output=json"];
  const env = kubectlEnvironment(folder.path, insideOf(cluster()));
  const report = JSON.parse(spawnSync(process.execPath, words, { env, encoding: "utf8" }).stdout);
  const findings: readonly Readonly<Record<string, string>>[] = report.findings;
  type Row = { daemonSet: string; pods: readonly { image: string; count: number }[] };
  const told = findings
    .filter(({ code = "" }) => ["CSI212", "CSI216"].includes(code))
    .map((one) => `${one.code} ${one.status}: ${one.subject} ${one.text}`);
  return {
    text: told.join("\n"),
    swappedIn: (name: string) =>
      report.registrars
        .find(({ daemonSet }: Row) => daemonSet === name)
        .pods.find(({ image }: Row["pods"][number]) => image === OURS.image)?.count,
  };
}

async function thereAndBack(): Promise<void> {
  await using stage = await authorsStage("fifth");
  await using charts = await chartsStage();
  const fifth = pluginOf(stage);
  const plugins = [...charts.plugins, fifth];
  const { apply, remove, kubectl } = cluster();
  const written = (...flags: readonly string[]) => writtenManifest("--image-policy", ...flags);
  const swap = written(`--arg=${RETRY}`);
  const nodeWide = written("--drop", "--include=daemonset");
  const policy = written("--drop", "--include=policy");
  const applyNodeWide = async () => {
    await apply(nodeWide);
    await kubectl("rollout", "status", "daemonset/csi-registrar", `--namespace=${NAMESPACE}`);
  };
  try {
    await change("apply", swap, fifth, swapped(fifth));
    await restartAll("official to ours", plugins, swapped);
    expect((await doctorSays()).text).toBe("");
    await stage.mountsVolume("user-of-swapped");

    await change("remove", swap, fifth, authors(fifth));
    await applyNodeWide();
    await change("apply", policy, fifth, dropped(fifth));
    await restartAll("ours to node-wide", plugins, dropped);
    await stage.mountsVolume("user-of-dropped");
    expect((await doctorSays()).text).toBe("");
    await remove(nodeWide);
    expect((await doctorSays()).text).toMatch(/^CSI216 problem: \S*fifth\S* has no registrar: .*$/m);
    await applyNodeWide();
    for (const plugin of plugins) await missingMs(plugin, performance.now());

    await change("remove", policy, fifth, authors(fifth));
    await restartAll("node-wide to official", plugins, authors);
    await stage.mountsVolume("user-of-given-back");
    const from = performance.now();
    await remove(nodeWide);
    for (const plugin of plugins)
      report(`node-wide deleted, CSINode lacked ${plugin.drivers}`, await missingMs(plugin, from));
  } finally {
    await remove([...swap, ...policy, ...nodeWide]);
  }
}

function podOn(node: string, plugin: AuthorsPlugin): AuthorsPlugin {
  const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  const { workload } = plugin;
  const template = { ...workload.spec.template, spec: { ...workload.spec.template.spec, affinity } };
  return { ...plugin, workload: { ...workload, spec: { ...workload.spec, template } } };
}

async function renewed({ plugin: { daemonSet, driver } }: Stage, nodes: readonly string[]) {
  const { kubectl, get } = cluster();
  const selector = `app.kubernetes.io/name=${daemonSet}`;
  await kubectl("delete", "pods", `--namespace=${NAMESPACE}`, `--selector=${selector}`);
  type New = Pod & { readonly spec: PodSpec };
  return until(async () => {
    const path = `/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=${encodeURIComponent(selector)}`;
    const { items } = await get<{ items: readonly New[] }>(path);
    expect(items.map(({ spec }) => spec.nodeName).toSorted()).toEqual(nodes);
    for (const { status } of items) expect(status.containerStatuses?.every(({ ready }) => ready)).toBe(true);
    for (const node of nodes) {
      const { spec } = await get<CSINode>(`/apis/storage.k8s.io/v1/csinodes/${node}`);
      expect(spec.drivers?.map(({ name }) => name)).toContain(driver);
    }
    return Object.fromEntries(items.map(({ spec }) => [`${spec.nodeName}`, allOf(spec)]));
  }, `new pods of ${daemonSet} on ${nodes} have registered ${driver}`);
}

async function nodeByNode(): Promise<void> {
  await using second = await insideOf(cluster()).addNode(2);
  const nodes = [cluster().nodeName, second.name] as const;
  await using stage = await authorsStage("sixth", second);
  const plugin = pluginOf(stage);
  const written = (...named: readonly string[]) => swapping(...named.map((node) => `--nodes=${node}`));
  const [first, other] = nodes;
  try {
    for (const [named, changed, isSwapped, watched] of [
      [[first], 1, [true, false], first],
      [[], 2, [true, true], other],
      [[other], 1, [false, true], first],
    ] as const) {
      const expected = isSwapped.map((is) => (is ? swapped : authors)(plugin));
      const ofWatched = expected[nodes.indexOf(watched)] ?? [];
      await change("apply", written(...named), podOn(watched, plugin), ofWatched);
      expect(await renewed(stage, nodes)).toEqual({ [first]: expected[0], [other]: expected[1] });
      const said = await doctorSays();
      expect([said.text, said.swappedIn(`${NAMESPACE}/sixth`)]).toEqual(["", changed]);
    }
  } finally {
    await cluster().remove(written());
  }
}

insideTest("a policy swaps or drops registrars, and deleted gives them back", thereAndBack);
insideTest("a policy swaps them on the nodes that it names, and gives others back", nodeByNode);

insideTest("a policy that is deleted in the middle of a rollout leaves a driver that runs", async () => {
  await using stage = await authorsStage("interrupted");
  const plugin = pluginOf(stage);
  try {
    await change("apply", swapping(), plugin, swapped(plugin));
    const from = performance.now();
    const containers = await restart(plugin, () => cluster().remove(swapping()));
    expect([swapped(plugin), authors(plugin)]).toContainEqual(containers);
    report("policy deleted meanwhile, CSINode lacked the driver", await missingMs(plugin, from));
  } finally {
    await cluster().remove(swapping());
  }
});
