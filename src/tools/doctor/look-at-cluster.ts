import { setFlagsFromString } from "node:v8";
import { plain } from "../../logging/escape";
import { version } from "../../runtime/version";
import { type Looked, lookUntilHealthy } from "../until-healthy";
import { type ClusterReading, type ClusterTarget, readCluster } from "./cluster/read/cluster";
import { startKubectlProxy } from "./cluster/read/kubectl-proxy";
import { createListApi } from "./cluster/read/list-api";

/** Between two looks, with `--wait`: a cluster is more work than a node. */
const EVERY_MS = 10_000;

interface ClusterFlags extends Partial<ClusterTarget> {
  readonly kubeconfig?: string | undefined;
  readonly image?: string | undefined;
  readonly wait?: number | undefined;
}

/** The same of a cluster, through kubectl. Progress goes to a terminal. */
export async function lookAtCluster<Report extends Looked>(
  flags: ClusterFlags,
  report: (reading: ClusterReading) => Report,
): Promise<Report> {
  const { context, kubeconfig, node, driver, image } = flags;
  // Otherwise V8 lets young objects grow to 100 MB, for pages that are garbage as soon as they are read.
  setFlagsFromString("--semi-space-growth-factor=1");
  const progress = createProgress();
  await using proxy = await startKubectlProxy({ context, kubeconfig, onMessage: progress.say });
  let isForbidden = false;
  const look = async () => {
    using api = createListApi(proxy.socketPath);
    const target = { context, node, driver };
    const reading = await readCluster(api, target, { image, version }, progress.show);
    progress.end();
    isForbidden = reading.unread.length > 0 && reading.unread.every(({ kind }) => kind === "forbidden");
    return report(reading);
  };
  return await lookUntilHealthy(look, flags.wait, EVERY_MS, () => isForbidden);
}

function createProgress() {
  const draw = (text: string) => {
    const line = `\r\u001b[K${text}`.slice(0, process.stderr.columns);
    if (process.stderr.isTTY) process.stderr.write(line);
  };
  return {
    show: (resource: string, count: number) => draw(`reading ${resource}: ${count.toLocaleString("en")}`),
    say: (line: string) => {
      draw("");
      process.stderr.write(`${plain(line)}\n`);
    },
    end: () => draw(""),
  };
}
