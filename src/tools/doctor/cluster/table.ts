import { plain } from "../../../logging/escape";
import { wrap } from "../../wrap";
import { whatElse } from "../files/swap";
import { renderColumns, renderReport, type TableLook } from "../findings/table";
import { objects, rights } from "./judge/needs";
import { EVERY_DRIVER } from "./read/units";
import type { ClusterReport } from "./report";

/** So many rows are shown; programs get all. */
const SHOWN = 20;

/**
 * For people: the drivers, the nodes where one is not well, and last the causes, the worst at the end; of a swap its registrars,
 * and with `again`, the command without the swap, how to see the rest.
 */
export function renderClusterTable(report: ClusterReport, look: TableLook, again?: string): string {
  const { swap, swapped = 0, problemsWithEither = 0 } = report.target;
  const registrars = registrarTable(report, look.width);
  const isSwap = swap !== undefined;
  return renderReport(report, look, {
    tables: isSwap
      ? [registrars]
      : [driverTable(report, look.width), registrars, nodeTable(report, look.width)],
    ...(isSwap && { swapped: { swap, swapped } }),
    next: whatElse(problemsWithEither, again),
  });
}

/** Whether a list could not be read, or an object not be judged. */
const isPartial = ({ findings }: ClusterReport): boolean =>
  findings.some(({ code, status }) => status === "unknown" && [rights.code, objects.code].includes(code));

function registrarTable({ registrars }: ClusterReport, width: number): readonly string[] {
  if (registrars.length === 0) return [];
  const rows = registrars.map(({ daemonSet, container, image, program, pods }) => [
    plain(daemonSet),
    plain(container),
    program ?? "-",
    plain(image ?? "-"),
    pods === null ? "?" : plain(pods.map((one) => imageText(one, image)).join(", ") || "-"),
  ]);
  return renderColumns(["DAEMONSET", "REGISTRAR", "PROGRAM", "IMAGE", "IN ITS PODS"], rows, width);
}

function imageText({ image, program, count }: Image, ofSet: string | null): string {
  const what = image === null ? "none" : image === ofSet ? "the same" : `${program} ${image}`;
  return `${count.toLocaleString("en")}: ${what}`;
}
type Image = NonNullable<ClusterReport["registrars"][number]["pods"]>[number];

const countText = (count: number | null): string => count?.toLocaleString("en") ?? "?";

function driverTable(report: ClusterReport, width: number): readonly string[] {
  const { drivers, target } = report;
  // Of a driver that was asked for, CSI208 says it.
  if (drivers.length === 0)
    return target.driver === null && !isPartial(report)
      ? ["No driver: no DaemonSet has a registrar, and no CSINode lists a driver."]
      : [];
  const rows = drivers.map(({ name, registered, nodes, csiDriver, daemonSets, guessed }) => [
    `${plain(name)}${guessed ? " (guess)" : ""}`,
    `${countText(registered)} of ${countText(nodes)}`,
    name === EVERY_DRIVER ? "-" : csiDriver === null ? "?" : csiDriver ? "yes" : "no",
    daemonSets === null ? "?" : plain(daemonSets.join(", ") || "-"),
  ]);
  return renderColumns(["DRIVER", "REGISTERED ON", "CSIDRIVER", "DAEMONSETS"], rows, width);
}

function nodeTable({ nodes, target }: ClusterReport, width: number): readonly string[] {
  // The report of one node lists healthy drivers, too.
  const rows = target.node === null ? nodes.filter(({ reason }) => reason !== null) : nodes;
  if (rows.length === 0) return [];
  const cells = rows
    .slice(0, SHOWN)
    .map(({ node, driver, state, code, pod, waitingPods }) => [
      plain(node ?? "(no node)"),
      plain(driver),
      state,
      code ?? "-",
      countText(waitingPods?.length ?? null),
      plain(pod ?? "-"),
    ]);
  const table = renderColumns(["NODE", "DRIVER", "STATE", "CODE", "WAITING PODS", "POD"], cells, width);
  const left = rows.length - SHOWN;
  if (left <= 0) return table;
  return [
    ...table,
    ...wrap(
      `... and ${left.toLocaleString("en")} more: choose some with --node or --driver, or list all with -o json`,
      width,
    ),
  ];
}
