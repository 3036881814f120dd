import { givenPrograms, IMAGES } from "../support/images";
import { type DaemonSet, exampleObjects, NAMESPACE, OURS, RETRY } from "../support/objects";
import { until } from "../support/patience";
import { createStage, insideOf, type Stage } from "../support/stage";
import { cluster, insideTest } from "../support/use-cluster";
import { writtenManifest } from "../support/written-manifest";

type PodSpec = DaemonSet["spec"]["template"]["spec"];

/** What a chart's author wrote: the official registrar; where its binary is missing, ours under the official name. */
const AUTHORS = { name: "official", image: "localhost/csi-node-driver-registrar:test" } as const;
const PROGRAM = givenPrograms().official ? IMAGES.official : OURS.image;
const swapping = () => writtenManifest("--image-policy", `--arg=${RETRY}`);
const isPolicy = ({ kind }: { readonly kind: string }) => kind !== "DaemonSet";

const specOf = ({ plugin }: Stage): PodSpec => exampleObjects(AUTHORS, plugin)[1].spec.template.spec;
/** Image and arguments of a pod's registrar; none where it has none. */
const registrarIn = ({ containers }: PodSpec) =>
  containers.filter(({ name }) => name === "registrar").map(({ image, args }) => ({ image, args }));
const authors = (stage: Stage) => registrarIn(specOf(stage));
/** The official registrar refuses the flag: that a pod with it becomes ready shows which program it runs. */
const swapped = (stage: Stage) =>
  authors(stage).map(({ args }) => ({ image: OURS.image, args: [RETRY, ...args] }));

const report = (what: string, times: Readonly<Record<string, number>>) =>
  process.stdout.write(
    `${what}: ${Object.entries(times).map(([name, ms]) => `${name} ${(ms / 1000).toFixed(1)} s`)}\n`,
  );
const ofPlugin = ({ plugin }: Stage) => [`daemonset/${plugin.daemonSet}`, `--namespace=${NAMESPACE}`];

/** A driver that the author's registrar has registered. */
async function authorsStage(name: string): Promise<Stage> {
  await insideOf(cluster()).node.run(
    ...["ctr", "--namespace=k8s.io", "images", "tag", "--force", PROGRAM, AUTHORS.image],
  );
  const plugin = { driver: `${name}.csi.example.com`, daemonSet: `${name}-node` };
  const stage = createStage(cluster(), AUTHORS, plugin);
  await stage.apply();
  await stage.registered();
  return stage;
}

/** Applies or deletes objects; how long until the API server gives new pods of the stage this registrar. */
async function change(
  verb: "apply" | "delete",
  objects: readonly object[],
  stage: Stage,
  registrar: ReturnType<typeof registrarIn>,
): Promise<number> {
  const { kubectlWith } = cluster();
  await kubectlWith(objects, verb, ...(verb === "apply" ? ["--server-side", "--validate=strict"] : []));
  const begin = performance.now();
  const metadata = { name: "dry", namespace: NAMESPACE };
  const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: specOf(stage) };
  await until(
    async () => {
      const made = await kubectlWith([pod], "create", "--dry-run=server", "--output=json");
      expect(registrarIn((JSON.parse(made) as { spec: PodSpec }).spec)).toEqual(registrar);
    },
    { what: `new pods have ${JSON.stringify(registrar)}` },
  );
  return performance.now() - begin;
}

/** Resolves when CSINode has listed the driver for so long that kubelet will not take it out for what was before. */
const staysListed = ({ plugin: { driver } }: Stage, since: number): Promise<void> =>
  until(
    () => {
      const { record } = cluster();
      expect(record.isListed(driver)).toBe(true);
      expect(performance.now() - Math.max(record.since(driver), since)).toBeGreaterThan(4_000);
    },
    { what: `CSINode lists ${driver} for 4 s` },
  );

/** Restarts the DaemonSet; its new pod is ready then, the driver listed. Answers what the pod has. */
async function restart(what: string, stage: Stage, meanwhile?: () => Promise<unknown>) {
  const { kubectl, get, record } = cluster();
  const { driver, daemonSet } = stage.plugin;
  const [old] = await stage.pods();
  const begin = performance.now();
  await kubectl("rollout", "restart", ...ofPlugin(stage));
  await meanwhile?.();
  await kubectl("rollout", "status", ...ofPlugin(stage), "--timeout=90s");
  const ready = performance.now() - begin;
  await stage.mountsVolume(`user-${daemonSet}-${Math.round(begin)}`);
  await staysListed(stage, begin);
  const missing = record.missingMs(driver, begin, performance.now());
  report(what, { missing, listed: Math.max(0, record.since(driver) - begin), ready });

  const kept = await get<DaemonSet>(`/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets/${daemonSet}`);
  expect(kept.spec.template.spec).toMatchObject(specOf(stage));
  const pods = (await stage.pods()) as unknown as readonly { metadata: { uid: string }; spec: PodSpec }[];
  expect(pods).toHaveLength(1);
  expect(pods[0]?.metadata.uid).not.toBe(old?.metadata.uid);
  return pods.flatMap(({ spec }) => registrarIn(spec));
}

insideTest("a policy swaps the image of a chart's registrar, and deleted gives it back", async () => {
  await using stage = await authorsStage("swapped");
  try {
    const works = await change("apply", swapping(), stage, swapped(stage));
    expect(await restart("official to ours by a policy", stage)).toEqual(swapped(stage));
    const ends = await change("delete", swapping(), stage, authors(stage));
    expect(await restart("ours to official without the policy", stage)).toEqual(authors(stage));
    report("a policy", { works, ends });
  } finally {
    await cluster().kubectlWith(swapping(), "delete", "--ignore-not-found");
  }
});

insideTest("a policy that is deleted in the middle of a rollout leaves a driver that runs", async () => {
  await using stage = await authorsStage("interrupted");
  const remove = () => cluster().kubectlWith(swapping(), "delete", "--ignore-not-found");
  try {
    await change("apply", swapping(), stage, swapped(stage));
    const registrar = await restart("policy deleted meanwhile", stage, remove);
    expect([swapped(stage), authors(stage)]).toContainEqual(registrar);
  } finally {
    await remove();
  }
});

insideTest("a policy drops a chart's registrar for that of the node, and deleted gives it back", async () => {
  await using stage = await authorsStage("dropped");
  const objects = writtenManifest("--image-policy", "--drop");
  try {
    await change("apply", objects, stage, []);
    await cluster().kubectl("rollout", "status", "daemonset/csi-registrar", `--namespace=${NAMESPACE}`);
    expect(await restart("official to node-wide by a policy", stage)).toEqual([]);
    await change("delete", objects.filter(isPolicy), stage, authors(stage));
    expect(await restart("node-wide to official without the policy", stage)).toEqual(authors(stage));
  } finally {
    await cluster().kubectlWith(objects, "delete", "--ignore-not-found", "--wait=true");
  }
  await staysListed(stage, performance.now());
});
