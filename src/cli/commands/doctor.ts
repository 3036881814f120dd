import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { CHECKS } from "../../doctor/checks";
import type { Target } from "../../doctor/facts";
import { gatherFacts } from "../../doctor/gather";
import { KNOWN_DIRECTORIES } from "../../doctor/host-facts";
import { reportOn } from "../../doctor/report";
import { renderTable } from "../../doctor/table";
import { escapeJson } from "../../logging/escape";
import { parseCsiAddress } from "../../registrar/driver/csi-address";
import { isPattern } from "../../registrar/node-wide/path-pattern";
import { choiceFlag, durationFlag, parseDuration, textFlag } from "../command-flags";
import { createCommand } from "../command-line";
import { isDirectory } from "../directories";
import { CONTAINER_DIRECTORY, nodeDirectory } from "../paths";
import { translateRegistrarWords } from "./doctor/registrar-words";

/** Where a registrar looks for the driver unless told otherwise. */
const DEFAULT_CSI_ADDRESS = "/run/csi/socket";
/** Where no terminal says how wide it is. */
const DEFAULT_WIDTH = 100;

const flags = {
  "csi-address": { ...textFlag("CSI driver socket as seen from here"), coerce: parseAddress },
  "kubelet-registration-path": textFlag("the same socket as kubelet sees it"),
  "plugin-registration-path": textFlag("kubelet's registration directory as seen from here"),
  timeout: {
    ...durationFlag("limit of a call; NodeGetInfo may take ten times as long"),
    default: "1s",
    coerce: parseTimeout,
  },
  output: {
    ...choiceFlag("a table for people, or one object for programs", ["text", "json"]),
    default: "text",
  },
} as const;

/** Says why a driver is not registered, and changes nothing; resolves with the exit code. */
export const runDoctor = createCommand(
  {
    name: "doctor",
    describe: [
      "Tells why a CSI driver is not registered: on a node, in a container, or anywhere. It changes nothing.",
      "Give it the registrar's own arguments, all of them: those that say nothing about where to look are checked and",
      "ignored. Without --csi-address it looks at every driver that is announced.",
    ].join(" "),
    flags,
    translate: (argv) => translateRegistrarWords(argv, Object.keys(flags)),
    examples: [
      "doctor",
      "doctor --csi-address=/csi/csi.sock --kubelet-registration-path=/var/lib/kubelet/plugins/NAME/csi.sock",
    ],
    notes: [
      [
        "JSON: {healthy, target, summary: {problem, warning, unknown, ok},",
        "findings: [{check, status, subject, text, cure}]}. Keys, checks and statuses stay, texts may change;",
        "cure is null where there is none.",
      ].join(" "),
      `Checks: ${CHECKS.map(({ name }) => name).join(", ")}.`,
      "Exit codes: 0 no problem found; 1 a problem found; 2 bad flag.",
    ],
  },
  async (flags) => {
    const target = resolveTarget(flags, nodeDirectory(process.env), { exists: existsSync, isDirectory });
    const facts = await gatherFacts(target, { timeoutMs: flags.timeout, uid: process.getuid?.() });
    const report = reportOn(facts);
    process.stdout.write(
      flags.output === "json"
        ? `${escapeJson(JSON.stringify(report, null, 2))}\n`
        : renderTable(report, { width: process.stdout.columns ?? DEFAULT_WIDTH, colors: wantsColors() }),
    );
    return report.healthy ? 0 : 1;
  },
);

interface TargetFlags {
  readonly csiAddress?: string | undefined;
  readonly kubeletRegistrationPath?: string | undefined;
  readonly pluginRegistrationPath?: string | undefined;
}

/**
 * What to look at where the flags leave it open: the driver socket that registrars take by default, if there is one;
 * the directory in a container, else that of a kubelet on this node, `onNode` before others. As for the registrar
 * itself, on a node the driver's socket and the path that kubelet is told are the same.
 */
export function resolveTarget(
  flags: TargetFlags,
  onNode: string,
  fileSystem: { exists(path: string): boolean; isDirectory(path: string): boolean },
): Target {
  const isThere = fileSystem.exists(DEFAULT_CSI_ADDRESS);
  const csiSocketPath = onePath(flags.csiAddress ?? (isThere ? DEFAULT_CSI_ADDRESS : undefined));
  const directories = [CONTAINER_DIRECTORY, onNode, ...KNOWN_DIRECTORIES];
  const found = directories.find(fileSystem.isDirectory);
  const pluginRegistrationPath = resolve(flags.pluginRegistrationPath ?? found ?? onNode);
  const isOnNode = flags.pluginRegistrationPath === undefined && found !== CONTAINER_DIRECTORY;
  const kubeletRegistrationPath =
    onePath(flags.kubeletRegistrationPath) ?? (isOnNode ? csiSocketPath : undefined);
  return { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath };
}

/** A pattern, as a registrar for a whole node is given, names no single driver; an empty path names none. */
function onePath(path: string | undefined): string | undefined {
  return path === "" || (path !== undefined && isPattern(path)) ? undefined : path;
}

function parseAddress(text: string): string {
  return resolve(parseCsiAddress(text));
}

function parseTimeout(text: string): number {
  const timeoutMs = parseDuration(text);
  if (timeoutMs === 0) throw new Error("it must be more than 0, or nobody could answer in time");
  return timeoutMs;
}

/** Node goes by NO_COLOR, FORCE_COLOR and TERM. */
function wantsColors(): boolean {
  return process.stdout.isTTY && process.stdout.hasColors();
}
