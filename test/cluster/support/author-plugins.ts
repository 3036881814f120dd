import { PODS, type PodsRow } from "../../charts/pods";
import { IMAGES, officialProgram } from "./images";
import type { Node } from "./node";
import { type Container, OURS, type PodSpec, type Workload } from "./objects";
import { insideOf } from "./stage";
import { until } from "./until";
import { cluster, untilListed } from "./use-cluster";

export interface AuthorsPlugin {
  readonly drivers: readonly string[];
  readonly workload: Workload;
}

/** The official registrar's image; where its binary is missing, ours under its name. */
const PROGRAM = officialProgram ? IMAGES.official : OURS.image;
const CHARTS = PODS.filter(({ beside, standIn }) => beside && standIn);

export const isRegistrar = ({ image }: Pick<Container, "image">) =>
  image === OURS.image || /\/csi-node-driver-registrar:/.test(image);
export const allOf = ({ containers, initContainers = [] }: PodSpec) =>
  [...initContainers, ...containers].map(({ name, image, args = [] }) => ({ name, image, args }));

/** Gives images the names that authors use: the registrar's, and one that only waits for what is not on the node. */
export async function nameImages(specs: readonly PodSpec[], node: Node): Promise<void> {
  const images = ["ctr", "--namespace=k8s.io", "images"];
  const there = (await node.run(...images, "ls", "--quiet")).split("\n");
  const named = new Set(specs.flatMap(allOf).map(({ image }) => image));
  for (const image of [...named].filter((one) => !there.includes(one))) {
    const stand = isRegistrar({ image }) ? PROGRAM : IMAGES.pause;
    await node.run(...images, "tag", "--force", stand, image);
    process.stdout.write(`${stand} stands in for ${image}\n`);
  }
}

function workloadsOf({ workloads, standIn = {} }: PodsRow): readonly Workload[] {
  return (workloads as readonly Workload[]).map((workload) => {
    const { template } = workload.spec;
    const containers = template.spec.containers.map((one) => {
      const args = standIn[one.name];
      return args ? { ...one, image: IMAGES.driver, args: [...args] } : one;
    });
    const spec = { ...template.spec, containers };
    return { ...workload, spec: { ...workload.spec, template: { ...template, spec } } };
  });
}

export async function chartsStage() {
  const { apply, remove, record } = cluster();
  const rows = CHARTS.map((row) => ({ ...row, workloads: workloadsOf(row) }));
  const objects = rows.flatMap(({ beside = [], workloads }) => [...beside, ...workloads]);
  const plugins = rows.flatMap(({ beside = [], workloads }) => {
    const named = beside as readonly Pick<Workload, "kind" | "metadata">[];
    const names = named.filter(({ kind }) => kind === "CSIDriver").map(({ metadata }) => metadata.name);
    return workloads
      .filter(({ spec }) => spec.template.spec.nodeSelector?.["kubernetes.io/os"] !== "windows")
      .map((workload): AuthorsPlugin => ({ drivers: names, workload }));
  });
  const drivers = plugins.flatMap((plugin) => plugin.drivers);
  const dispose = async () => {
    if (objects.length > 0) await remove(objects);
    for (const driver of drivers) await untilListed(driver, false);
  };
  try {
    const specs = plugins.map(({ workload }) => workload.spec.template.spec);
    await nameImages(specs, insideOf(cluster()).node);
    if (objects.length > 0) await apply(objects);
    const missing = () => drivers.filter((driver) => !record.isListed(driver));
    await until(() => expect(missing()).toEqual([]), "CSINode lacks none of the charts' drivers");
  } catch (error) {
    process.stdout.write(await cluster().kubectl("get", "pods,events", "--all-namespaces"));
    await dispose();
    throw error;
  }
  return { plugins, [Symbol.asyncDispose]: dispose };
}
