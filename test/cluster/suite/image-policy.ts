import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../docs/markdown";
import { createTempFolder } from "../../support/temp-folder";
import { programPath } from "../support/build";
import { givenPrograms, IMAGES } from "../support/images";
import { type DaemonSet, exampleObjects, NAMESPACE, OURS, RETRY } from "../support/objects";
import { until } from "../support/patience";
import { createStage, insideOf, type Stage } from "../support/stage";
import { cluster, insideTest } from "../support/use-cluster";
import { writtenManifest } from "../support/written-manifest";

type Objects = readonly object[];
type PodSpec = DaemonSet["spec"]["template"]["spec"];

/** What a chart's author wrote: the official registrar; where its binary is missing, ours under the official name. */
const AUTHORS = { name: "official", image: "localhost/csi-node-driver-registrar:test" } as const;
const PROGRAM = givenPrograms().official ? IMAGES.official : OURS.image;
const swapping = () => writtenManifest("--image-policy", `--arg=${RETRY}`);

const specOf = ({ plugin }: Stage): PodSpec => exampleObjects(AUTHORS, plugin)[1].spec.template.spec;
/** Image and arguments of a pod's registrar; none where it has none. */
const registrarIn = ({ containers }: PodSpec) =>
  containers.filter(({ name }) => name === "registrar").map(({ image, args }) => ({ image, args }));
const authors = (stage: Stage) => registrarIn(specOf(stage));
/** The official registrar ends at the unknown flag: that a driver with it is registered shows which program runs. */
const swapped = (stage: Stage) =>
  authors(stage).map(({ args }) => ({ image: OURS.image, args: [RETRY, ...args] }));

const report = (what: string, ...times: readonly number[]) =>
  process.stdout.write(`${what}: ${times.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(", ")}\n`);
const remove = (objects: Objects) =>
  cluster().kubectlWith(objects, "delete", "--ignore-not-found", "--wait=true");
const ofPlugin = ({ plugin }: Stage) => [`daemonset/${plugin.daemonSet}`, `--namespace=${NAMESPACE}`];

/** A driver that the author's registrar has registered. */
async function authorsStage(name: string): Promise<Stage> {
  const { node } = insideOf(cluster());
  await node.run("ctr", "--namespace=k8s.io", "images", "tag", "--force", PROGRAM, AUTHORS.image);
  const stage = createStage(cluster(), AUTHORS, { driver: `${name}.csi.example.com`, daemonSet: name });
  await stage.apply();
  await stage.registered();
  return stage;
}

/** Applies or deletes objects; how long until the API server gives new pods of the stage this registrar. */
async function change(verb: "apply" | "delete", objects: Objects, stage: Stage, registrar: Objects) {
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

/** Waits until CSINode has listed the driver for 4 s, when nothing from before ends that; how long it lacked it. */
async function missingMs({ plugin: { driver } }: Stage, from: number): Promise<number> {
  const { record } = cluster();
  const listedMs = () => performance.now() - Math.max(record.since(driver), from);
  const staysListed = () => expect(record.isListed(driver) && listedMs() > 4_000).toBe(true);
  await until(staysListed, { what: `CSINode lists ${driver} for 4 s` });
  return record.missingMs(driver, from, performance.now());
}

/** Restarts the DaemonSet; its new pod is ready then, the driver listed. Answers what the pod has. */
async function restart(what: string, stage: Stage, meanwhile?: () => Promise<unknown>) {
  const { kubectl, get, record } = cluster();
  const { driver, daemonSet } = stage.plugin;
  const begin = performance.now();
  await kubectl("rollout", "restart", ...ofPlugin(stage));
  await meanwhile?.();
  await kubectl("rollout", "status", ...ofPlugin(stage), "--timeout=90s");
  const ready = performance.now() - begin;
  await stage.mountsVolume(`user-${daemonSet}-${Math.round(begin)}`);
  const missing = await missingMs(stage, begin);

  const kept = await get<DaemonSet>(`/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets/${daemonSet}`);
  expect(kept.spec.template.spec).toMatchObject(specOf(stage));
  const pods = (await stage.pods()) as unknown as readonly { spec: PodSpec }[];
  expect(pods).toHaveLength(1);
  const registrar = pods.flatMap(({ spec }) => registrarIn(spec));
  const listed = Math.max(0, record.since(driver) - begin);
  const images = registrar.map(({ image }) => image);
  report(`${what}, registrar [${images}]: ready, listed, missing`, ready, listed, missing);
  return registrar;
}

/** What `doctor --cluster` finds about policies: codes, and texts. */
async function doctorSays(): Promise<string> {
  await using folder = await createTempFolder();
  const kubectl = `#!/bin/sh\nexec "${programPath("kubernetes")}" kubectl "$@"\n`;
  writeFileSync(folder.at("kubectl"), kubectl, { mode: 0o755 });
  const words = [join(ROOT, "dist", "cli.js"), "doctor", "--cluster", "--output=json"];
  const config = `--kubeconfig=${insideOf(cluster()).controlPlane.kubeconfig("admin")}`;
  const env = { ...process.env, PATH: `${folder.path}:${process.env.PATH}` };
  // It exits with 1 if it finds a problem.
  const text = await new Promise<string>((resolve) =>
    execFile(process.execPath, [...words, config], { env }, (_error, stdout) => resolve(stdout)),
  );
  const { findings } = JSON.parse(text) as { findings: readonly Readonly<Record<string, string>>[] };
  return findings
    .filter(({ code = "" }) => ["CSI212", "CSI215", "CSI216"].includes(code))
    .map((one) => `${one.code} ${one.status}: ${one.subject} ${one.text}`)
    .join("\n");
}

insideTest("a policy swaps the image of a chart's registrar, and deleted gives it back", async () => {
  await using stage = await authorsStage("swapped");
  try {
    const works = await change("apply", swapping(), stage, swapped(stage));
    expect(await doctorSays()).toMatch(
      /^CSI215 warning: DaemonSet kube-system\/swapped, container registrar has \S+ in 1 pod, older than MutatingAdmissionPolicy registrar-image$/,
    );
    expect(await restart("official to ours by a policy", stage)).toEqual(swapped(stage));
    expect(await doctorSays()).toBe("");
    const ends = await change("delete", swapping(), stage, authors(stage));
    expect(await restart("ours to official without the policy", stage)).toEqual(authors(stage));
    report("a policy works and ends", works, ends);
  } finally {
    await remove(swapping());
  }
});

insideTest("a policy that is deleted in the middle of a rollout leaves a driver that runs", async () => {
  await using stage = await authorsStage("interrupted");
  try {
    await change("apply", swapping(), stage, swapped(stage));
    const registrar = await restart("policy deleted meanwhile", stage, () => remove(swapping()));
    expect([swapped(stage), authors(stage)]).toContainEqual(registrar);
  } finally {
    await remove(swapping());
  }
});

insideTest("a policy drops a chart's registrar for that of the node, and deleted gives it back", async () => {
  await using stage = await authorsStage("dropped");
  const objects = writtenManifest("--image-policy", "--drop");
  const policy = objects.filter(({ kind }) => kind !== "DaemonSet");
  try {
    await change("apply", objects, stage, []);
    await cluster().kubectl("rollout", "status", "daemonset/csi-registrar", `--namespace=${NAMESPACE}`);
    expect(await restart("official to node-wide by a policy", stage)).toEqual([]);
    expect(await doctorSays()).toBe("");
    const nodeWide = objects.filter(({ kind }) => kind === "DaemonSet");
    await remove(nodeWide);
    expect(await doctorSays()).toMatch(/^CSI216 problem: dropped\.csi\.example\.com has no registrar: .*$/);
    await cluster().kubectlWith(nodeWide, "apply", "--server-side");
    await cluster().kubectl("rollout", "status", "daemonset/csi-registrar", `--namespace=${NAMESPACE}`);
    await missingMs(stage, performance.now());
    await change("delete", policy, stage, authors(stage));
    expect(await restart("node-wide to official without the policy", stage)).toEqual(authors(stage));
  } finally {
    await remove(objects);
  }
  report("node-wide registrar deleted: missing", await missingMs(stage, performance.now()));
});
