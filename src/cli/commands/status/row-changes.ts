import type { DriverRow } from "../../../doctor/findings/report";

/** The rows to show a watcher: new and changed ones, and those of drivers that are gone. */
export function rowChanges(
  rows: readonly DriverRow[],
  before: readonly DriverRow[],
  now: string,
): readonly DriverRow[] {
  const changed = without(rows, before, (row, other) => JSON.stringify(row) === JSON.stringify(other));
  return [
    ...changed,
    ...goneFrom(rows, before).map((row) => ({ ...row, state: "gone", since: now, reason: null })),
  ];
}

/**
 * Name and socket identify a driver. A socket may have two paths, kubelet's and the one that was found: among the rows
 * that came and went the name decides, or the socket of a driver without a known name.
 */
function goneFrom(rows: readonly DriverRow[], before: readonly DriverRow[]): readonly DriverRow[] {
  const isSame = (row: DriverRow, other: DriverRow) =>
    row.name === other.name && row.csiSocket === other.csiSocket;
  const came = without(rows, before, isSame);
  return without(without(before, rows, isSame), came, (row, other) =>
    row.name !== null && other.name !== null
      ? row.name === other.name
      : row.csiSocket !== null && row.csiSocket === other.csiSocket,
  );
}

function without(
  rows: readonly DriverRow[],
  others: readonly DriverRow[],
  isSame: (row: DriverRow, other: DriverRow) => boolean,
): readonly DriverRow[] {
  return rows.filter((row) => !others.some((other) => isSame(row, other)));
}
