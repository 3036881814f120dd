import { plain } from "../../../logging/escape";
import { wrap } from "../../findings/columns";
import { grouped } from "../../findings/grouped";
import type { Report } from "../../findings/report";
import { findingTable, STATUSES, sumLine, type TableLook } from "../../findings/table";

const INDENT = "  ";

/** The report on files for people: under each place its findings except `ok`, the worst places last, then the sum. */
export function renderFileTable(report: Report, look: TableLook, beforeSum = ""): string {
  const shown = report.findings.filter(({ status }) => status !== "ok");
  const inside = { ...look, width: look.width - INDENT.length };
  const places = Array.from(
    grouped(shown, ({ subject }) => subject),
    ([place, findings]) => ({
      worst: Math.max(...findings.map(({ status }) => STATUSES.indexOf(status))),
      lines: [
        ...wrap(plain(place), look.width),
        ...findingTable(
          findings.map((finding) => ({ ...finding, subject: "" })),
          inside,
          { widthsOf: shown },
        ).map((line) => INDENT + line),
        "",
      ],
    }),
  );
  const lines = places.toSorted((one, other) => one.worst - other.worst).flatMap((place) => place.lines);
  return [...lines, beforeSum + sumLine(report, look), ""].join("\n");
}
