// Runs inside a cluster's namespaces, started by main.ts: starts the cluster, runs ginkgo, breaks what is to be broken meanwhile.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setInterval as every } from "node:timers/promises";
import { parseAllDocuments } from "yaml";
import { programPath } from "../cluster/support/build";
import { type Cluster, startCluster } from "../cluster/support/cluster";
import { insideOf } from "../cluster/support/stage";
import type { Plan } from "./support/plan";

const plan = JSON.parse(process.env.E2E_PLAN ?? "") as Plan;
const say = (text: string) => void process.stderr.write(`${text}\n`);

async function main(): Promise<number> {
  await using cluster = await startCluster();
  const { controlPlane } = insideOf(cluster);
  const objects = parseAllDocuments(plan.snapshotObjects)
    .map((document) => document.toJS() as object | null)
    .filter((object) => object !== null);
  await cluster.kubectlWith(objects, "apply", "--server-side");
  const bin = join(plan.reports, "bin");
  mkdirSync(bin, { recursive: true });
  // Some tests call kubectl by name.
  writeFileSync(join(bin, "kubectl"), `#!/bin/sh\nexec ${programPath("kubernetes")} kubectl "$@"\n`, {
    mode: 0o755,
  });

  const breaking = new AbortController();
  const broken = breakThings(cluster, breaking.signal).catch((error: Error) =>
    say(`breaking stopped: ${error.message}`),
  );
  const ginkgo = spawn(
    plan.ginkgo,
    [
      ...[
        `--procs=${plan.procs}`,
        "--timeout=3h",
        "--no-color",
        "--keep-going",
        `--output-dir=${plan.reports}`,
      ],
      ...["--junit-report=junit.xml", "--silence-skips", ...(plan.isDryRun ? ["--dry-run"] : [])],
      ...plan.focus.map((pattern) => `--focus=${pattern}`),
      `--label-filter=${plan.labels}`,
      ...[plan.tests, "--", `-kubeconfig=${controlPlane.kubeconfig("admin")}`, "-provider=skeleton"],
      ...["-kubelet-root-dir=/var/lib/kubelet", "-num-nodes=1", "-allowed-not-ready-nodes=-1"],
      ...["-system-pods-startup-timeout=1s", ...plan.flags],
    ],
    {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
    },
  );
  const [code] = await once(ginkgo, "exit");
  breaking.abort();
  await broken;
  return code ?? 1;
}

/** Disturbs registrations at the plan's pace until the signal is aborted. */
async function breakThings(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const { node } = insideOf(cluster);
  const each = async (ms: number, act: () => Promise<unknown>) => {
    for await (const _ of every(ms, undefined, { signal }))
      await act().catch((error: Error) => say(error.message));
  };
  const registry = node.at("/var/lib/kubelet/plugins_registry");
  const breakages = {
    none: () => [],
    // Whatever is there: a removal by name, as a stopping registrar of another pod does it.
    sockets: () => [
      each(4_000, async () => {
        for (const name of readdirSync(registry))
          if (name.endsWith(".sock")) rmSync(join(registry, name), { force: true });
      }),
    ],
    restarts: () => [
      each(30_000, () => killRegistrars(cluster)),
      each(120_000, async () => {
        await node.kubelet.kill();
        await node.kubelet.start();
      }),
    ],
  } satisfies Record<Plan["breaking"], () => readonly Promise<void>[]>;
  await Promise.all(breakages[plan.breaking]()).catch((error: Error) => {
    if (!signal.aborted) throw error;
  });
}

async function killRegistrars(cluster: Cluster): Promise<void> {
  const { items } = await cluster.get<{ items: readonly PodObject[] }>("/api/v1/pods");
  const running = items.flatMap(({ status }) => status.containerStatuses ?? []);
  for (const { image, containerID, state } of running)
    if (/csi-node-driver-registrar|localhost\/registrar/.test(image) && containerID && state.running)
      await insideOf(cluster).node.killContainer(containerID);
}

interface PodObject {
  readonly status: {
    readonly containerStatuses?: readonly {
      readonly image: string;
      readonly containerID?: string;
      readonly state: { readonly running?: object };
    }[];
  };
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exit(1);
  },
);
