import { plain } from "../../../logging/escape";
import type { Check } from "../findings/finding";
import { itemsOf, tell } from "../findings/opened";
import { findingsOf, findingsOfAll, type Report, reportOf } from "../findings/report";
import { renderColumns, renderReport, type TableLook } from "../findings/table";
import { namedText } from "../findings/words";
import { driverChecks } from "./judge/driver";
import { endpointCheck } from "./judge/endpoint";
import { foundChecks } from "./judge/found";
import { machineChecks } from "./judge/machine";
import { registrationChecks } from "./judge/registration";
import { driversIn, noneAnswers } from "./judge/rows";
import { gapChecks } from "./judge/trouble";
import { type View, viewOf } from "./judge/view";
import { resolveTarget, type TargetFlags } from "./read/directory";
import type { Target } from "./read/facts";
import { type Facts, gatherFacts } from "./read/gather";

/** Looks where the flags say. Throws INVALID_OPTION where the host cannot be inspected. */
export async function lookAtNode(flags: TargetFlags & { readonly timeout: number }, more: Partial<Target>) {
  const target = { ...(await resolveTarget(flags, process.env)), ...more };
  return reportOn(await gatherFacts(target, { timeoutMs: flags.timeout, uid: process.getuid?.() }));
}

/** Makes the report on the facts. The target has the names of the flags; null: not given. */
export function reportOn(facts: Facts): Report {
  const { csiSocketPath, pattern, kubeletRegistrationPath = null, pluginRegistrationPath } = facts.target;
  const csiAddress = csiSocketPath ?? pattern ?? null;
  const target = { csiAddress, kubeletRegistrationPath, pluginRegistrationPath };
  const view = viewOf(facts);
  const rows = itemsOf(driversIn(view)).map(tell);
  const found = findingsOfAll([...gapChecks, noneAnswers, ...NODE_CHECKS], { ...view, gaps: facts.gaps });
  return reportOf(target, found, rows);
}

/** So many rows are shown; programs get all. */
const SHOWN = 20;

/** What could not be read, and may have a driver. */
export const unreadIn = (facts: Facts) =>
  findingsOf(gapChecks, facts).filter(({ status }) => status === "unknown");

export function renderTable(report: Report, look: TableLook): string {
  const { drivers } = report;
  const left = drivers.length - SHOWN;
  const more = left > 0 ? [`... and ${left.toLocaleString("en")} more: list all with -o json`] : [];
  const table = [...driverLines(drivers.slice(0, SHOWN), look.width), ...more];
  return renderReport(report, look, { tables: [table] });
}

/** The table of drivers, for people. */
export function driverLines(rows: Report["drivers"], width?: number): readonly string[] {
  if (rows.length === 0) return [];
  const cells = rows.map(({ name, state, since, reason, csiSocket }) => [
    plain(namedText(name ?? "(no name)")),
    state,
    since ?? "-",
    plain([reason, csiSocket].filter(Boolean).join("; ")),
  ]);
  return renderColumns(["DRIVER", "STATE", "SINCE", "WHY, WHERE"], cells, width);
}

export const NODE_CHECKS: readonly Check<View>[] = [
  ...machineChecks,
  ...driverChecks,
  ...registrationChecks,
  ...foundChecks,
  endpointCheck,
];
