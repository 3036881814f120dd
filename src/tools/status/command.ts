import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../../base/errors";
import { durationFlag, NAME_LIST_FLAGS, outputFlag, textFlag, timeoutFlag } from "../../flags/kinds";
import { nameListsFrom } from "../../flags/paths";
import { escapeJson } from "../../logging/escape";
import { print, printError } from "../../runtime/print";
import { createCommand } from "../command-line";
import { type DriverRow, EXIT_UNKNOWN, type ReportedFinding } from "../doctor/findings/report";
import { resolveTarget } from "../doctor/node/read/directory";
import { gatherFacts } from "../doctor/node/read/gather";
import { driverLines, reportOn, unreadIn } from "../doctor/node/report";

/** The official registrar reports no state: the findings of doctor decide for its driver. */
export const isWell = ({ state }: DriverRow) => ["registered", "not-wanted", "unreported"].includes(state);
const LOOK_EVERY_MS = 1_000;
/** Of the object in place of a list that may lack drivers. */
const SCHEMA = "registrar.status/1";

export const runStatus = createCommand(
  {
    name: "status",
    failureExitCode: EXIT_UNKNOWN,
    describe: [
      "Shows the drivers of this node, and where their registrars say that they stand. It changes nothing.",
      "The official registrar tells nothing: its state is `unreported`; `dead` is one that left its socket behind,",
      "`hanging` one that does not answer. A `registered` driver that does not answer stays so, as kubelet has it.",
      "WHY has what registrar doctor finds wrong with the driver; run that to see what to do.",
    ].join(" "),
    flags: {
      "plugin-registration-path": textFlag("kubelet's registration directory as seen from here"),
      "host-root": textFlag("where the host's root is mounted: /host under kubectl debug node"),
      ...NAME_LIST_FLAGS,
      timeout: { ...timeoutFlag("limit of a call; ten times as long for NodeGetInfo"), default: "1s" },
      wait: durationFlag("look again until all are registered, at most this long"),
      output: outputFlag("a table for people, or a list for programs", ["text", "json"]),
    },
    examples: ["status", "status --wait=30s", "status --host-root=/host -o json"],
    notes: [
      "JSON: a list of {name, state, since, reason, csiSocket, registrationSocket}, null is unknown; {schema, error, drivers} where that list may lack some.",
      "Exit codes: 0 all registered, not-wanted or unreported; 1 not all, none, or a problem; 2 bad flag; 3 what decides is unknown; 130 Ctrl-C, 143 SIGTERM.",
    ],
  },
  async (flags) => {
    const isJson = flags.output === "json";
    const toJson = (value: unknown) => `${escapeJson(JSON.stringify(value, null, 2))}\n`;
    const complain = (what: string) => printError(`registrar status: ${what}`);
    const resolved = await resolveTarget(flags, process.env).catch(messageOf);
    if (typeof resolved === "string") {
      complain(resolved);
      if (isJson) print(toJson({ schema: SCHEMA, error: resolved, drivers: [] }));
      return EXIT_UNKNOWN;
    }
    const target = { ...resolved, csiSocketPath: undefined, names: nameListsFrom(flags) };
    const options = { timeoutMs: flags.timeout, uid: process.getuid?.() };
    const until = performance.now() + (flags.wait ?? 0);
    const look = async () => {
      const facts = await gatherFacts(target, options);
      const report = reportOn(facts);
      const isHealthy = report.healthy && report.drivers.length > 0 && report.drivers.every(isWell);
      return { facts, report, isHealthy };
    };
    let seen = await look();
    while (!seen.isHealthy && performance.now() < until) {
      await delay(Math.min(LOOK_EVERY_MS, until - performance.now()));
      seen = await look();
    }
    const { facts, report, isHealthy } = seen;
    const { drivers: rows, findings, summary } = report;
    const sentence = ({ subject, text }: Pick<ReportedFinding, "subject" | "text">) => `${subject} ${text}`;
    const isSeen = facts.directory.kind === "directory";
    const [unseen] = isSeen ? [] : findings.filter(({ code }) => code === "CSI008").map(sentence);
    const directory = target.pluginRegistrationPath;
    const gaps = unreadIn(facts);
    // The table may show nothing of it.
    const isShown = !rows.every(isWell) || rows.length === 0;
    const isWrong = ({ status, follows }: ReportedFinding) =>
      follows === null && (status === "problem" || status === "unknown");
    if (unseen !== undefined) complain(unseen);
    else for (const one of isShown ? gaps : findings.filter(isWrong)) complain(sentence(one));
    if (rows.length === 0 && gaps.length === 0 && unseen === undefined && !isJson)
      complain(`no driver in ${directory} or ${join(dirname(directory), "plugins")}`);
    // Each gap may hide a driver.
    const [error] = [unseen ?? [], gaps.map(sentence)].flat();
    const json = error === undefined ? rows : { schema: SCHEMA, error, drivers: rows };
    const written = print(
      isJson
        ? toJson(json)
        : driverLines(rows, process.stdout.columns)
            .map((line) => `${line}\n`)
            .join(""),
    );
    if (written !== 0 || unseen !== undefined) return EXIT_UNKNOWN;
    if (isHealthy) return 0;
    const isBad = summary.problem > 0 || rows.some((row) => !isWell(row) && row.state !== "unknown");
    const isNone = rows.length === 0 && error === undefined;
    return isBad || isNone ? 1 : EXIT_UNKNOWN;
  },
);
