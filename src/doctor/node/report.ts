import { plain } from "../../logging/escape";
import { type Check, findingsOf } from "../findings/finding";
import { type Report, reportOf } from "../findings/report";
import { renderColumns, renderReport, type TableLook } from "../findings/table";
import {
  driverHealth,
  driverIdentity,
  driverName,
  driverNodeInfo,
  driverReady,
  driverSocket,
  kubeletPath,
} from "./judge/driver";
import { driversFound, driversIn, registrars, waitingPods } from "./judge/found";
import {
  commandLine,
  directoryKubelets,
  directoryWritable,
  inotify,
  kubelet,
  registrationDirectory,
  selinux,
  socketPath,
} from "./judge/machine";
import { nodeReadiness } from "./judge/node-readiness";
import {
  otherRegistrations,
  registrationCheck,
  registrationDuplicates,
  registrationEndpoint,
  registrationVersions,
} from "./judge/registration";
import type { Facts } from "./read/gather";

/** Makes the report on the facts. The target has the names of the flags; null: not given. */
export function reportOn(facts: Facts): Report {
  const { csiSocketPath, pattern, kubeletRegistrationPath = null, pluginRegistrationPath } = facts.target;
  const csiAddress = csiSocketPath ?? pattern ?? null;
  const target = { csiAddress, kubeletRegistrationPath, pluginRegistrationPath };
  return reportOf(target, findingsOf(NODE_CHECKS, facts), driversIn(facts));
}

/** The same for people, with the drivers on top. */
export function renderTable(report: Report, look: TableLook): string {
  const rows = report.drivers.map(({ name, state, since, reason, csiSocket }) => [
    plain(name ?? "(no name)"),
    state,
    since ?? "-",
    plain([reason, csiSocket].filter(Boolean).join("; ")),
  ]);
  const drivers = renderColumns(["DRIVER", "STATE", "SINCE", "WHY, WHERE"], rows, look.width);
  return renderReport(report, look, { tables: rows.length === 0 ? [] : [drivers] });
}

/** Every question to a node. A cause comes before what follows from it: the driver, the directory, the registration. */
export const NODE_CHECKS: readonly Check<Facts>[] = [
  commandLine,
  driverSocket,
  driverIdentity,
  driverName,
  driverReady,
  driverNodeInfo,
  kubeletPath,
  registrationDirectory,
  directoryWritable,
  directoryKubelets,
  socketPath,
  kubelet,
  inotify,
  selinux,
  registrationCheck,
  registrationEndpoint,
  registrationVersions,
  registrationDuplicates,
  otherRegistrations,
  driversFound,
  nodeReadiness,
  driverHealth,
  waitingPods,
  registrars,
];
