import { setFlagsFromString } from "node:v8";
import { namedFlag, switchFlag } from "../../../flags/kinds";
import { version } from "../../../runtime/version";
import { endBySignals } from "../../foreground";
import { checkSwap, SWAP_FLAGS } from "../files/swap-flags";
import { CLUSTER_SCHEMA } from "../findings/report";
import { flagsOf } from "../findings/words";
import { createMode } from "../mode";

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
      { commandWithout },
    ] = await Promise.all([
      import("./read/cluster"),
      import("./read/kubectl-proxy"),
      import("./read/list-api"),
      import("./report"),
      import("./table"),
      import("../files/swap"),
    ]);
    const { context, kubeconfig, node, driver, image, swap } = flags;
    // Otherwise V8 lets young objects grow to 100 MB, for pages that are garbage as soon as they are read.
    setFlagsFromString("--semi-space-growth-factor=1");
    await using proxy = await startKubectlProxy({ context, kubeconfig });
    using api = createListApi(proxy.socketPath, proxy);
    const target = { context, kubeconfig, node, driver };
    const report = await reportOnCluster(await readCluster(api, target, { image, version }), swap);
    const again = () => commandWithout(swap ?? "", image, ["--cluster", ...flagsOf(target)]);
    return { report, render: (look) => renderClusterTable(report, look, again()) };
  },
);
