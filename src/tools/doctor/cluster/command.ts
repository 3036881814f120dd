import { setFlagsFromString } from "node:v8";
import { durationFlag, namedFlag, switchFlag } from "../../../flags/kinds";
import { plain } from "../../../logging/escape";
import { endBySignals } from "../../../runtime/signals";
import { version } from "../../../runtime/version";
import { lookUntilHealthy } from "../../until-healthy";
import { CLUSTER_SCHEMA } from "../findings/report";
import { checkSwap, SWAP_FLAGS } from "../manifest/swap-flags";
import { createMode } from "../mode";

/** Between two looks, with `--wait`: a cluster is more work than a node. */
const EVERY_MS = 10_000;

export const clusterMode = createMode(
  {
    chosenBy: ["cluster", "--cluster"],
    schema: CLUSTER_SCHEMA,
    describe:
      "Shows which drivers are not registered on which nodes of a cluster, and why. It reads through kubectl and changes nothing.",
    flags: {
      cluster: switchFlag("look at every node of a cluster, through kubectl"),
      node: namedFlag("this node only"),
      driver: namedFlag("this driver only"),
      context: namedFlag("kubectl's context"),
      kubeconfig: namedFlag("path of kubectl's configuration file"),
      ...SWAP_FLAGS,
      wait: durationFlag("look again until no problem is found, at most this long"),
    },
    check: checkSwap,
    examples: ["doctor --cluster", "doctor --cluster --driver=disk.csi.example.com"],
    notes: [
      "JSON: {schema, healthy, target, nodes, drivers, registrars, summary, findings}. docs/doctor.md has their fields, docs/doctor-codes.md every code.",
    ],
  },
  async (flags) => {
    // A cluster may keep this thread busy for seconds.
    endBySignals();
    const [
      { readCluster },
      { startKubectlProxy },
      { createListApi },
      { reportOnCluster },
      { renderClusterTable },
    ] = await Promise.all([
      import("./read/cluster"),
      import("./read/kubectl-proxy"),
      import("./read/list-api"),
      import("./report"),
      import("./table"),
    ]);
    const { context, kubeconfig, node, driver, image, swap } = flags;
    // Otherwise V8 lets young objects grow to 100 MB, for pages that are garbage as soon as they are read.
    setFlagsFromString("--semi-space-growth-factor=1");
    const progress = createProgress();
    await using proxy = await startKubectlProxy({ context, kubeconfig }, progress.say);
    let isForbidden = false;
    const look = async () => {
      using api = createListApi(proxy.socketPath);
      const target = { context, kubeconfig, node, driver };
      const reading = await readCluster(api, target, { image, version }, progress.show);
      progress.end();
      isForbidden = reading.unread.length > 0 && reading.unread.every(({ kind }) => kind === "forbidden");
      return reportOnCluster(reading, swap);
    };
    const report = await lookUntilHealthy(look, flags.wait, EVERY_MS, () => isForbidden);
    return { report, render: (look) => renderClusterTable(report, look) };
  },
);

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
