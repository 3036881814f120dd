import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../docs/markdown";
import { createTempFolder } from "../../support/temp-folder";
import { kubectlEnvironment } from "../support/cluster";
import { IMAGES, officialProgram } from "../support/images";
import { exampleObjects, NAMESPACE, OURS, type PodSpec, RETRY, writtenManifest } from "../support/objects";
import { createStage, type Stage } from "../support/stage";
import { until } from "../support/until";
import { cluster } from "../support/use-cluster";

/** What a chart's author wrote: the official registrar; where its binary is missing, ours under the official name. */
const AUTHORS = { name: "official", image: "localhost/csi-node-driver-registrar:test" } as const;
const written = (...flags: readonly string[]) => writtenManifest("--image-policy", ...flags);

const templateOf = ({ plugin }: Stage) => exampleObjects(AUTHORS, plugin)[1].spec.template.spec;
const containersOf = ({ containers }: PodSpec) =>
  containers.map(({ name, image, args }) => ({ name, image, args }));
/** A pod's containers: as the author wrote them, with the registrar swapped, and without it. */
const authors = (stage: Stage) => containersOf(templateOf(stage));
/** The official registrar ends at the unknown flag: that the driver is registered with it shows which program runs. */
const swapped = (stage: Stage) =>
  authors(stage).map((one) =>
    one.name === "registrar" ? { ...one, image: OURS.image, args: [RETRY, ...one.args] } : one,
  );
const dropped = (stage: Stage) => authors(stage).filter(({ name }) => name !== "registrar");

async function authorsStage(name: string): Promise<Stage> {
  const stage = createStage(cluster, AUTHORS, { driver: `${name}.csi.example.com`, daemonSet: name });
  const program = officialProgram ? IMAGES.official : OURS.image;
  await cluster.node.run(
    ...["ctr", "--namespace=k8s.io", "images", "tag", "--force", program, AUTHORS.image],
  );
  await stage.apply();
  await stage.registered();
  return stage;
}

/** Applies or removes objects until the API server gives new pods of the stage these containers. */
async function change(verb: "apply" | "remove", objects: readonly object[], stage: Stage, expected: object) {
  await cluster[verb](objects);
  const metadata = { name: "dry", namespace: NAMESPACE };
  const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: templateOf(stage) };
  await until(
    async () => {
      const made = await cluster.kubectlWith([pod], "create", "--dry-run=server", "--output=json");
      expect(containersOf((JSON.parse(made) as { spec: PodSpec }).spec)).toEqual(expected);
    },
    `new pods have ${JSON.stringify(expected)}`,
  );
}

/** Waits until CSINode has listed the driver for 4 s, when nothing from before ends that; tells how long it lacked it. */
async function staysListed(what: string, { plugin: { driver } }: Stage, from: number): Promise<void> {
  const { record } = cluster;
  await until(() => expect(record.listedMs(driver, from)).toBeGreaterThan(4_000), `CSINode lists ${driver}`);
  const ms = record.missingMs(driver, from, performance.now());
  process.stdout.write(`${what}, CSINode lacked ${driver}: ${(ms / 1000).toFixed(1)} s\n`);
}

/** Restarts the DaemonSet, which stays as its author wrote it; its new pod is ready then. What containers that has. */
async function restart(what: string, stage: Stage, meanwhile?: () => Promise<unknown>) {
  const { kubectl, get } = cluster;
  const name = stage.plugin.daemonSet;
  const target = [`daemonset/${name}`, `--namespace=${NAMESPACE}`];
  const from = performance.now();
  await kubectl("rollout", "restart", ...target);
  await meanwhile?.();
  await kubectl("rollout", "status", ...target, "--timeout=90s");
  type Kept = { readonly spec: { readonly template: { readonly spec: PodSpec } } };
  const kept = await get<Kept>(`/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets/${name}`);
  expect(containersOf(kept.spec.template.spec)).toEqual(authors(stage));
  const pods = (await stage.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  expect(pods).toHaveLength(1);
  await staysListed(what, stage, from);
  return pods.flatMap(({ spec }) => containersOf(spec));
}

/** What `doctor --cluster` finds where policies work. */
async function doctorSays(): Promise<string> {
  await using folder = await createTempFolder();
  const words = [join(ROOT, "dist", "cli.js"), "doctor", "--cluster", "--output=json"];
  const env = kubectlEnvironment(folder.path, cluster);
  const { stdout } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
  const findings: readonly Readonly<Record<string, string>>[] = JSON.parse(stdout).findings;
  return findings
    .filter(({ code = "", status }) => ["CSI204", "CSI212"].includes(code) && status !== "ok")
    .map((one) => `${one.code} ${one.status}: ${one.subject} ${one.text}`)
    .join("\n");
}

test("a policy swaps or drops registrars, and deleted gives them back", async () => {
  await using stage = await authorsStage("fifth");
  const { apply, remove, kubectl } = cluster;
  const swap = written(`--arg=${RETRY}`);
  const nodeWide = writtenManifest("--node-wide");
  const policy = written("--drop");
  const applyNodeWide = async () => {
    await apply(nodeWide);
    await kubectl("rollout", "status", "daemonset/csi-registrar", `--namespace=${NAMESPACE}`);
  };
  try {
    await change("apply", swap, stage, swapped(stage));
    expect(await restart("official to ours", stage)).toEqual(swapped(stage));
    expect(await doctorSays()).toBe("");
    await stage.mountsVolume("user-of-swapped");

    await change("remove", swap, stage, authors(stage));
    await applyNodeWide();
    await change("apply", policy, stage, dropped(stage));
    expect(await restart("ours to node-wide", stage)).toEqual(dropped(stage));
    await stage.mountsVolume("user-of-dropped");
    expect(await doctorSays()).toBe("");
    await remove(nodeWide);
    // For a minute after its start, a pod may still be registered.
    await until(
      async () => expect(await doctorSays()).toMatch(/^CSI204 problem: \S*fifth\S* is not in CSINode: .*$/m),
      "doctor names the driver without a registrar",
      120_000,
    );
    await applyNodeWide();
    await staysListed("node-wide again", stage, performance.now());

    await change("remove", policy, stage, authors(stage));
    expect(await restart("node-wide to official", stage)).toEqual(authors(stage));
    await stage.mountsVolume("user-of-given-back");
    const from = performance.now();
    await remove(nodeWide);
    await staysListed("node-wide deleted", stage, from);
  } finally {
    await remove([...swap, ...policy, ...nodeWide]);
  }
});

test("a policy that is deleted in the middle of a rollout leaves a driver that runs", async () => {
  await using stage = await authorsStage("interrupted");
  const swap = written(`--arg=${RETRY}`);
  try {
    await change("apply", swap, stage, swapped(stage));
    const containers = await restart("policy deleted meanwhile", stage, () => cluster.remove(swap));
    expect([swapped(stage), authors(stage)]).toContainEqual(containers);
  } finally {
    await cluster.remove(swap);
  }
});
