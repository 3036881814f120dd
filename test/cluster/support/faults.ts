import { setTimeout as delay } from "node:timers/promises";
import { IMAGES } from "./images";
import { containerOf, TOPOLOGY_KEY } from "./objects";
import type { Scenario } from "./play";
import { type Change, insideOf, type Stage } from "./stage";

export const withArgs =
  (...args: readonly string[]): Change =>
  (daemonSet) =>
    void containerOf(daemonSet, "registrar").args.push(...args);
export const withLimits =
  (limits: Readonly<Record<string, string>>): Change =>
  (daemonSet) => {
    containerOf(daemonSet, "registrar").resources = { requests: { cpu: "10m", memory: "16Mi" }, limits };
  };
/** A new pod, nothing else. */
export const rollOut: Change = ({ spec }) => {
  spec.template.metadata.annotations = { "example.com/rolled-out": String(performance.now()) };
};
export const eachOf = <Value>(stages: readonly Stage[], act: (stage: Stage) => Promise<Value>) =>
  Promise.all(stages.map(act));
export const clusterOf = ([stage]: readonly Stage[]) => {
  if (!stage) throw new Error("there is no stage");
  return stage.cluster;
};
export const retry = withArgs("--on-registration-failure=retry");

/** Pods that overlap: the new one runs before the old one is asked to end. */
export const surging =
  (...driverArgs: readonly string[]): Change =>
  (daemonSet) => {
    daemonSet.spec.updateStrategy.rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
    const driver = containerOf(daemonSet, "hostpath");
    driver.image = IMAGES.driver; // its socket's end is told by a flag
    driver.args.push(...driverArgs);
  };

/** The label of the node says something else than the drivers, for so long from the apply on. */
export function clash(holdMs: number, variation: Partial<Scenario> = {}): Scenario {
  return {
    title: `topology clash, ended ${holdMs / 1000} s after the apply`,
    needsInside: true,
    limitMs: 180_000,
    ours: { comesBack: true },
    prepare: async (stages, change) => {
      const cluster = clusterOf(stages);
      await cluster.kubectl("label", "node", cluster.nodeName, "--overwrite", `${TOPOLOGY_KEY}=elsewhere`);
      await eachOf(stages, (stage) => stage.apply(change));
    },
    cause: async (stages) => {
      const { kubectl, nodeName } = clusterOf(stages);
      await delay(holdMs);
      await kubectl("label", "node", nodeName, `${TOPOLOGY_KEY}-`);
      return "end";
    },
    undo: ({ kubectl, nodeName }) => kubectl("label", "node", nodeName, `${TOPOLOGY_KEY}-`),
    ...variation,
  };
}

/** The API server is away, and the registrars start anew meanwhile. */
export function apiServerAway(awayMs: number, variation: Partial<Scenario> = {}): Scenario {
  return {
    title: `API server away for ${awayMs / 1000} s, registrar killed meanwhile`,
    needsInside: true,
    limitMs: 180_000,
    ours: { comesBack: true },
    cause: async (stages) => {
      const { controlPlane, node } = insideOf(clusterOf(stages));
      const ids = await eachOf(stages, async (stage) => (await stage.status("registrar")).containerID ?? "");
      await controlPlane.apiServer.kill();
      await eachOf(stages, (stage) => killContainerOf(node, ids[stages.indexOf(stage)] ?? ""));
      await delay(awayMs);
      const back = performance.now();
      await controlPlane.apiServer.start();
      await controlPlane.ready();
      return back;
    },
    ...variation,
  };
}

const killContainerOf = (node: { run(...words: readonly string[]): Promise<string> }, id: string) =>
  node.run("ctr", "--namespace=k8s.io", "tasks", "kill", "--signal=SIGKILL", id.replace("containerd://", ""));
