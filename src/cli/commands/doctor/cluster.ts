import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { type ClusterReading, type ClusterTarget, readCluster } from "../../../doctor/cluster/read/cluster";
import { startKubectlProxy } from "../../../doctor/cluster/read/kubectl-proxy";
import { createListApi } from "../../../doctor/cluster/read/list-api";
import { fieldOf } from "../../../flags/grammar";
import { plain } from "../../../logging/escape";
import { version } from "../../process/version";

/** Between two looks, with `--wait`: a cluster is more work than a node. */
const LOOK_EVERY_MS = 10_000;

const OF_A_NODE = [
  "csi-address",
  "kubelet-registration-path",
  "plugin-registration-path",
  "host-root",
  "allow-drivers",
  "deny-drivers",
  "remove-startup-taint",
  "node-condition",
  "impersonate-node",
  "node-name",
  "timeout",
];
const OF_A_CLUSTER = ["node", "driver", "context"];

/** Throws for flags of which some are for a cluster or files, and some for a node. */
export function refuseMixedFlags(flags: Readonly<Record<string, unknown>>): void {
  const isGiven = (flag: string) => flags[fieldOf(flag)] !== undefined;
  const refuse = (names: readonly string[], why: (name: string) => string) => {
    const wrong = names.find(isGiven);
    if (wrong !== undefined) throw new Error(why(wrong));
  };
  if (!flags.cluster && !isGiven("file"))
    refuse(["image", "swap"], (name) => `--${name} needs -f or --cluster beside it`);
  if (flags.cluster)
    refuse(
      ["file", ...OF_A_NODE],
      (name) => `--cluster looks at a whole cluster through kubectl; leave --${name} out`,
    );
  else refuse(OF_A_CLUSTER, (name) => `--${name} needs --cluster beside it`);
  if (isGiven("file"))
    refuse([...OF_A_NODE, "wait"], (name) => `-f judges files and looks at no node; leave --${name} out`);
}

/** The report of the first look that finds no problem, or of the last within `waitMs`. */
export async function lookUntilHealthy<Report extends { readonly healthy: boolean }>(
  look: () => Promise<Report>,
  { everyMs, waitMs }: { readonly everyMs: number; readonly waitMs: number },
): Promise<Report> {
  const until = performance.now() + waitMs;
  for (;;) {
    const report = await look();
    const leftMs = until - performance.now();
    if (report.healthy || leftMs <= 0) return report;
    await delay(Math.min(everyMs, leftMs));
  }
}

interface ClusterFlags extends Partial<ClusterTarget> {
  readonly kubeconfig?: string | undefined;
  readonly image?: string | undefined;
}

/** The same of a cluster, through kubectl. Progress goes to a terminal. */
export async function lookAtCluster<Report extends { readonly healthy: boolean }>(
  flags: ClusterFlags,
  waitMs: number,
  report: (reading: ClusterReading) => Report,
): Promise<Report> {
  const { context, kubeconfig, node, driver, image } = flags;
  // Otherwise V8 lets young objects grow to 100 MB, for pages that are garbage as soon as they are read.
  setFlagsFromString("--semi-space-growth-factor=1");
  const progress = createProgress();
  const onMessage = (line: string) => progress.say(line);
  await using proxy = await startKubectlProxy({ context, kubeconfig, onMessage });
  using api = createListApi(proxy.socketPath);
  const look = async () => {
    const target = { context, node, driver };
    const reading = await readCluster(api, target, { image, version }, progress.show);
    progress.end();
    return report(reading);
  };
  return await lookUntilHealthy(look, { everyMs: LOOK_EVERY_MS, waitMs });
}

function createProgress() {
  const counts = new Map<string, number>();
  const isShown = process.stderr.isTTY;
  const clear = () => isShown && process.stderr.write("\r\u001b[K");
  return {
    show: (resource: string, count: number) => {
      counts.set(resource, count);
      const words = Array.from(counts, ([name, read]) => `${name} ${read.toLocaleString("en")}`).join(", ");
      if (isShown) process.stderr.write(`\r\u001b[Kreading: ${words}`.slice(0, process.stderr.columns ?? 80));
    },
    say: (line: string) => {
      clear();
      process.stderr.write(`${plain(line)}\n`);
    },
    end: () => void clear(),
  };
}
