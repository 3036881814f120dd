import { resolve } from "node:path";
import { invalidOption } from "../../base/errors";
import { startProblemOf } from "../../flags/checks";
import type { Setting } from "../../flags/grammar";
import {
  durationFlag,
  listFlag,
  NAME_LIST_FLAGS,
  outputFlag,
  switchFlag,
  textFlag,
  timeoutFlag,
} from "../../flags/kinds";
import { nameListsFrom, nodeDirectory } from "../../flags/paths";
import { acceptedFlags, parseFlags } from "../../flags/table";
import { escapeJson } from "../../logging/escape";
import { print } from "../../runtime/print";
import { endBySignals } from "../../runtime/signals";
import { version } from "../../runtime/version";
import { parseCsiAddress } from "../../unix/socket-path";
import { createCommand } from "../command-line";
import { parseOurImage } from "../images/our-image";
import { lastPart } from "../images/program";
import { isOtherSidecar } from "../manifest/image-policy/recognise";
import { checkNamed as checkName, checkPinned } from "../manifest/names";
import { lookUntilHealthy } from "../until-healthy";
import { reportOnCluster } from "./cluster/report";
import { renderClusterTable } from "./cluster/table";
import { explain, parseCode } from "./explain";
import type { Report } from "./findings/report";
import type { TableLook } from "./findings/table";
import { lookAtCluster } from "./look-at-cluster";
import { renderFileTable, renderSwapTable, reportOnFiles, reportOnSwap } from "./manifest/report";
import { gatherFacts } from "./node/read/gather";
import { renderTable, reportOn } from "./node/report";
import { readFiles } from "./read-files";
import { hostRootProblem, resolveTarget } from "./target";

/** Columns without a terminal. */
const DEFAULT_WIDTH = 100;
const EXIT_PROBLEM = 1;
const EXIT_UNSEEN = 3;

/** Where to look on a node, and the flags of its registrar. */
const NODE_FLAGS = {
  "csi-address": textFlag("CSI driver socket as seen from here", (text) => resolve(parseCsiAddress(text))),
  "kubelet-registration-path": textFlag("the same socket as kubelet sees it"),
  "plugin-registration-path": textFlag("kubelet's registration directory as seen from here"),
  "host-root": textFlag("where the host's root is mounted: /host under kubectl debug node"),
  ...NAME_LIST_FLAGS,
  timeout: { ...timeoutFlag("limit of a call; ten times as long for NodeGetInfo"), default: "1s" },
} as const;

const FLAGS = {
  file: {
    ...listFlag("YAML to judge: files, directories, - for stdin; repeatable"),
    alias: "f",
  },
  cluster: { ...switchFlag("look at every node of a cluster, through kubectl"), conflicts: "file" },
  node: { ...textFlag("with --cluster: this node only"), implies: "cluster" },
  driver: { ...textFlag("with --cluster: this driver only"), implies: "cluster" },
  context: { ...textFlag("with --cluster: kubectl's context"), implies: "cluster" },
  kubeconfig: textFlag("with --cluster: kubectl's file"),
  image: textFlag("with -f or --cluster: this registrar's image, or one to swap"),
  swap: { ...textFlag("with -f or --cluster: what a swap to our image changes", parseOurImage), bare: "" },
  ...NODE_FLAGS,
  wait: { ...durationFlag("look again until no problem is found, at most so long"), conflicts: "file" },
  output: outputFlag("for people or programs", ["text", "json"]),
  explain: textFlag("a finding's CODE: print why it matters and the fix, and look at nothing", parseCode),
  verbose: switchFlag("list what is ok or unknown, too; the JSON always has it"),
} as const;

export const runDoctor = createCommand(
  {
    name: "doctor",
    describe: [
      "Tells why a CSI driver is not registered: on a node, in a container, in a cluster. It changes nothing.",
      "Give it the registrar's own arguments, all of them: those that say nothing about where to look are checked too.",
      "Without --csi-address it looks at every driver of the node, registered or not.",
    ].join(" "),
    flags: FLAGS,
    registrar: acceptedFlags(),
    check: (flags, settings) => {
      const other = settings.find(({ name }) => name !== "explain");
      if (flags.explain !== undefined && other !== undefined)
        throw new Error(`--explain prints a code's section and looks at nothing; leave --${other.name} out`);
      const isOfNode = !flags.cluster && flags.file === undefined;
      const misplaced = settings.find(({ name }) =>
        isOfNode ? ["image", "swap"].includes(name) : Object.hasOwn(NODE_FLAGS, name),
      );
      if (misplaced !== undefined)
        throw new Error(
          isOfNode
            ? `--${misplaced.name} needs -f or --cluster beside it`
            : `-f and --cluster look at no node; leave --${misplaced.name} out`,
        );
      const { swap = "", image } = flags;
      if (image !== undefined) checkName("image", "image", image);
      if (swap !== "") checkPinned("swap", swap);
      if (flags.swap !== undefined && image !== undefined && isOtherSidecar(lastPart(image)))
        throw new Error(`--image "${image}" is another sidecar, which a registrar cannot replace`);
    },
    failureExitCode: EXIT_UNSEEN,
    examples: [
      "doctor",
      "doctor --csi-address=/csi/csi.sock --kubelet-registration-path=/var/lib/kubelet/plugins/NAME/csi.sock",
      "doctor --host-root=/host --wait=60s",
      "doctor --swap -f daemonset.yaml -f -",
      "doctor --cluster --driver=disk.csi.example.com",
      "doctor --explain=CSI105",
    ],
    notes: [
      [
        "JSON: {schema, healthy, target,",
        "drivers: [{name, state, since, reason, csiSocket, registrationSocket}],",
        "summary: {problem, warning, unknown, ok},",
        "findings: [{code, check, status, subject, text, objects, fix, follows, followsIndex}]}.",
        "With --cluster, drivers has other fields, and there are nodes and registrars. docs/doctor.md has them, docs/doctor-codes.md every code.",
      ].join(" "),
      "Exit codes: 0 no problem found; 1 a problem found; 2 bad flag; 3 not everything could be read; 130 Ctrl-C; 143 SIGTERM.",
    ],
  },
  async (flags, settings) => {
    const width = process.stdout.columns ?? DEFAULT_WIDTH;
    if (flags.explain !== undefined) return print(await explain(flags.explain, width));
    const tell = <Told extends Pick<Report, "healthy" | "summary">>(
      report: Told,
      render: (report: Told, look: TableLook) => string,
    ) => {
      const colors = process.stdout.isTTY && process.stdout.hasColors();
      const written = print(
        flags.output === "json"
          ? `${escapeJson(JSON.stringify(report, null, 2))}\n`
          : render(report, { width, colors, isVerbose: flags.verbose }),
      );
      if (written !== 0 || report.healthy) return written;
      return report.summary.problem > 0 ? EXIT_PROBLEM : EXIT_UNSEEN;
    };
    // Files and clusters may keep this thread busy for seconds.
    if (flags.cluster || flags.file !== undefined) endBySignals();
    const { file, image, swap } = flags;
    if (flags.cluster)
      return tell(
        await lookAtCluster(flags, (reading) => reportOnCluster(reading, swap)),
        renderClusterTable,
      );
    if (file !== undefined) {
      const read = await readFiles(file);
      const ours = { image, version };
      return swap === undefined
        ? tell(reportOnFiles(read, ours), renderFileTable)
        : tell(reportOnSwap(read, ours, swap), renderSwapTable);
    }
    const target = {
      ...(await resolveTarget(flags, nodeDirectory(process.env))),
      names: nameListsFrom(flags),
      startProblem: startProblemIn(settings),
    };
    const hostProblem = await hostRootProblem(target);
    if (hostProblem !== undefined) throw invalidOption(hostProblem);
    const how = { timeoutMs: flags.timeout, uid: process.getuid?.() };
    const look = async () => reportOn(await gatherFacts(target, how));
    return tell(await lookUntilHealthy(look, flags.wait), renderTable);
  },
);

/** Why the registrar would not start with those of the flags that are its own; undefined if it would. */
function startProblemIn(settings: readonly Setting[]): string | undefined {
  const own = settings.filter(({ name }) => acceptedFlags().has(name));
  const line = parseFlags(own.map(({ name, text }) => `--${name}=${text}`));
  return line.kind === "flags" ? startProblemOf(line.flags) : undefined;
}
