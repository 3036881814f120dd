// Runs inside a cluster's namespaces, started by main.ts: starts the cluster, runs ginkgo, breaks what is to be broken meanwhile.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setInterval as every } from "node:timers/promises";
import { type Cluster, kubectlEnvironment, startCluster } from "../cluster/support/cluster";
import { objectsIn } from "../cluster/support/objects";
import type { ContainerStatus, Pod } from "../cluster/support/stage";
import { runMain, say } from "../support/run-main";
import type { Registrars } from "./support/page";
import { type Plan, REPORTS } from "./support/selection";

const plan = JSON.parse(readFileSync(join(REPORTS, "plan.json"), "utf8")) as Plan;

async function main(): Promise<number> {
  await using cluster = await startCluster();
  await cluster.apply([...plan.objects, ...IMAGES_ARE_THERE]);
  const bin = join(REPORTS, "bin");
  mkdirSync(bin, { recursive: true });

  const ended = new AbortController();
  const meanwhile = Promise.all([breakThings(cluster, ended.signal), watchRegistrars(cluster, ended.signal)]);
  const ginkgo = spawn(
    plan.ginkgo,
    [
      ...["--no-color", "--keep-going", "--silence-skips", `--output-dir=${REPORTS}`],
      ...["--junit-report=junit.xml", "--json-report=report.json", ...plan.flags],
      ...[plan.tests, "--", `-kubeconfig=${cluster.controlPlane.kubeconfig("admin")}`, "-provider=skeleton"],
      ...["-kubelet-root-dir=/var/lib/kubelet", "-num-nodes=1", "-allowed-not-ready-nodes=-1"],
      ...["-system-pods-startup-timeout=1s", ...plan.testFlags],
    ],
    // Some tests call kubectl by name.
    { stdio: ["ignore", "inherit", "inherit"], env: kubectlEnvironment(bin, cluster) },
  );
  const [code] = await once(ginkgo, "exit");
  ended.abort();
  await meanwhile;
  return code ?? 1;
}

/** There is no registry: a pod with `imagePullPolicy: Always` gets the image that the node has. */
const IMAGES_ARE_THERE = objectsIn(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: images-are-there}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  matchConditions:
    - {name: pulls, expression: 'object.spec.containers.exists(c, c.imagePullPolicy == "Always")'}
  mutations:
    - patchType: ApplyConfiguration
      applyConfiguration:
        expression: >-
          Object{spec: Object.spec{containers: object.spec.containers.map(c,
          Object.spec.containers{name: c.name, imagePullPolicy: "IfNotPresent"})}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: images-are-there}
spec: {policyName: images-are-there}
`);

async function each(ms: number, signal: AbortSignal, act: () => Promise<unknown>): Promise<void> {
  try {
    for await (const _ of every(ms, undefined, { signal }))
      await act().catch((error: Error) => say(error.message));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function breakThings(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const { node } = cluster;
  const registry = node.at("/var/lib/kubelet/plugins_registry");
  // Whatever is there: a removal by name, as a stopping registrar of another pod does it.
  const removeSockets = async () => {
    for (const name of readdirSync(registry))
      if (name.endsWith(".sock")) rmSync(join(registry, name), { force: true });
  };
  const killRegistrars = async () => {
    for (const { containerID, state } of await registrarsOf(cluster))
      if (containerID && state.running) await node.killContainer(containerID);
  };
  if (plan.breaking === "sockets") await each(4_000, signal, removeSockets);
  if (plan.breaking === "restarts")
    await Promise.all([each(30_000, signal, killRegistrars), each(120_000, signal, node.kubelet.restart)]);
}

async function watchRegistrars(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const seen = new Map<string, ContainerStatus>();
  const ended = new Map<string, string>();
  await each(2_000, signal, async () => {
    for (const one of await registrarsOf(cluster)) {
      seen.set(`${one.pod} ${one.name}`, one);
      const last = one.lastState.terminated;
      if (last) ended.set(last.containerID, `${last.exitCode}: ${last.message?.trim() || last.reason}`);
    }
  });
  const byImage: Record<string, Registrars> = {};
  for (const { image, restartCount } of seen.values()) {
    const { containers = 0, restarts = 0 } = byImage[image] ?? {};
    byImage[image] = { containers: containers + 1, restarts: restarts + restartCount };
  }
  const written = { registrars: byImage, endings: [...ended.values()].sort() };
  writeFileSync(join(REPORTS, "registrars.json"), JSON.stringify(written));
}

async function registrarsOf({ get }: Cluster) {
  const { items } = await get<{ items: readonly Pod[] }>("/api/v1/pods");
  return items
    .flatMap(({ metadata: { uid }, status: { containerStatuses = [] } }) =>
      containerStatuses.map((one) => ({ ...one, pod: uid })),
    )
    .filter(({ image }) => /csi-node-driver-registrar/.test(image));
}

runMain(main);
