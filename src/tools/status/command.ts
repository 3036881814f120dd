import { dirname, join } from "node:path";
import { pause } from "../../base/pause";
import {
  durationFlag,
  NAME_LIST_FLAGS,
  outputFlag,
  switchFlag,
  textFlag,
  timeoutFlag,
} from "../../flags/kinds";
import { nameListsFrom } from "../../flags/paths";
import { escapeJson, plain } from "../../logging/escape";
import { print } from "../../runtime/print";
import { untilStopped } from "../../runtime/signals";
import { createCommand } from "../command-line";
import type { DriverRow } from "../doctor/findings/report";
import { renderColumns } from "../doctor/findings/table";
import { driversIn } from "../doctor/node/judge/rows";
import { viewOf } from "../doctor/node/judge/view";
import { type Facts, gatherFacts } from "../doctor/node/read/gather";
import { hostRootProblem, resolveTarget } from "../doctor/node/read/target";
import { lookUntilHealthy } from "../until-healthy";

const WELL = ["registered", "not-wanted"];
const LOOK_EVERY_MS = 1_000;
const EXIT_UNSEEN = 3;

export const runStatus = createCommand(
  {
    name: "status",
    describe: [
      "Shows the drivers of this node, and where their registrars say that they stand. It changes nothing.",
      "The official registrar tells nothing: its state is `unreported`; `dead` is one that left its socket behind,",
      "`hanging` one that does not answer. A `registered` driver that does not answer stays so, as kubelet has it; REASON says it.",
      "Run registrar doctor to see why a driver is not registered.",
    ].join(" "),
    flags: {
      "plugin-registration-path": textFlag("kubelet's registration directory as seen from here"),
      "host-root": textFlag("where the host's root is mounted: /host under kubectl debug node"),
      ...NAME_LIST_FLAGS,
      timeout: { ...timeoutFlag("limit of a call"), default: "1s" },
      wait: { ...durationFlag("look again until all are registered, at most this long"), conflicts: "watch" },
      watch: { ...switchFlag("go on, and show each row anew when it changes"), alias: "w" },
      output: outputFlag("a table for people, or a list for programs", ["text", "json"]),
    },
    examples: ["status", "status --watch", "status --wait=30s", "status --host-root=/host -o json"],
    notes: [
      "JSON: a list, with --watch a line each, of {name, state, since, reason, csiSocket, registrationSocket}; null is unknown.",
      "Exit codes: 0 all are registered or not-wanted, or --watch ended; 1 not all, or none; 2 bad flag; 3 could not look; without --watch, 130 Ctrl-C, 143 SIGTERM.",
    ],
  },
  async (flags) => {
    const target = {
      ...(await resolveTarget(flags, process.env)),
      csiSocketPath: undefined,
      names: nameListsFrom(flags),
    };
    const options = { timeoutMs: flags.timeout, uid: process.getuid?.() };
    const gather = () => gatherFacts(target, options);
    const show = (rows: readonly DriverRow[], isFirst: boolean) =>
      print(flags.output === "json" ? jsonText(rows, !flags.watch) : textLines(rows, isFirst));
    const look = async () => {
      const facts = await gather();
      const rows = driversIn(viewOf(facts));
      return { facts, rows, healthy: rows.length > 0 && rows.every(({ state }) => WELL.includes(state)) };
    };
    const { facts, rows: first, healthy } = await lookUntilHealthy(look, flags.wait);
    const unseen = await unseenRegistrations(facts);
    const directory = facts.directory.path;
    const complain = (what: string) => process.stderr.write(`registrar status: ${what}\n`);
    for (const { path, fileSystem } of facts.leftOut)
      complain(`${path} is a mount of ${fileSystem} and was not inspected: its server may not answer`);
    if (unseen !== undefined) complain(unseen);
    else if (first.length === 0 && flags.output === "text")
      complain(`no driver in ${directory} or ${join(dirname(directory), "plugins")}`);
    const written = unseen !== undefined && first.length === 0 ? 0 : show(first, true);
    if (!flags.watch && unseen !== undefined) return written || EXIT_UNSEEN;
    if (!flags.watch) return written || (healthy ? 0 : 1);

    const signal = untilStopped();
    for (let shown = first; await pause(LOOK_EVERY_MS, signal); ) {
      const rows = driversIn(viewOf(await gather()));
      const changed = rowChanges(rows, shown, new Date().toISOString());
      if (changed.length > 0 && show(changed, false) !== 0) return 1;
      shown = rows;
    }
    return 0;
  },
);

function jsonText(rows: readonly DriverRow[], isWhole: boolean): string {
  if (isWhole) return `${escapeJson(JSON.stringify(rows, null, 2))}\n`;
  return rows.map((row) => `${escapeJson(JSON.stringify(row))}\n`).join("");
}

function textLines(rows: readonly DriverRow[], hasHeadings: boolean): string {
  if (rows.length === 0) return "";
  const cells = rows.map(({ name, state, since, reason, csiSocket }) =>
    [name ?? "(no name)", state, since ?? "-", reason || "-", csiSocket ?? "-"].map(plain),
  );
  const lines = renderColumns(["DRIVER", "STATE", "SINCE", "REASON", "DRIVER SOCKET"], cells);
  return `${(hasHeadings ? lines : lines.slice(1)).join("\n")}\n`;
}

export async function unseenRegistrations({ target, directory }: Facts): Promise<string | undefined> {
  const hostProblem = await hostRootProblem(target);
  if (hostProblem !== undefined) return hostProblem;
  if (directory.kind === "directory") return undefined;
  if (directory.kind === "not-a-directory")
    return `${directory.path} is ${directory.fileType}, not a directory`;
  return `cannot read ${directory.path}: ${directory.kind === "missing" ? "ENOENT" : directory.errno}`;
}

/** The rows that came or changed, and those that went. */
export function rowChanges(
  rows: readonly DriverRow[],
  before: readonly DriverRow[],
  now: string,
): readonly DriverRow[] {
  const shown = new Set(before.map((row) => JSON.stringify(row)));
  const came = without(rows, before);
  const gone = without(before, rows).filter(({ name }) => {
    // Its socket moved, or has another path here than at kubelet.
    const at = came.findIndex((one) => name !== null && one.name === name);
    if (at >= 0) came.splice(at, 1);
    return at < 0;
  });
  return [
    ...rows.filter((row) => !shown.has(JSON.stringify(row))),
    ...gone.map((row) => ({ ...row, state: "gone", since: now, reason: null })),
  ];
}

const without = (rows: readonly DriverRow[], others: readonly DriverRow[]) =>
  rows.filter((row) => !others.some((other) => isSameSocket(row, other)));

/** A driver without a known name may be any behind its socket. */
function isSameSocket(one: DriverRow, other: DriverRow): boolean {
  if (one.csiSocket !== other.csiSocket) return false;
  return one.name === other.name || (one.csiSocket !== null && (one.name === null || other.name === null));
}
