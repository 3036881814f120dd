import type { DriverRow } from "../../../doctor/findings/report";

/** What a watcher has to be shown: the rows that are new or other than before, and those of drivers that are gone. */
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
 * A driver is known by its name and its socket. Its socket may have two names, as kubelet is told and as it was found:
 * then the name decides among the rows that came and went. While a driver does not tell its name, its socket does.
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
