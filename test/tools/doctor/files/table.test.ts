import { MANIFEST_CHECKS } from "../../../../src/tools/doctor/files/judge/checks";
import { readRegistrars } from "../../../../src/tools/doctor/files/read/registrars";
import { renderFileTable } from "../../../../src/tools/doctor/files/report";
import { findingsOf } from "../../../../src/tools/doctor/findings/finding";
import { reportOf } from "../../../../src/tools/doctor/findings/report";
import { type Changes, daemonSet } from "./one-daemon-set";

function rendered(files: Readonly<Record<string, Changes>>, width: number): readonly string[] {
  const sets = Object.entries(files).map(([file, changes]) => ({ file, object: daemonSet(changes) }));
  const report = reportOf({ files }, findingsOf(MANIFEST_CHECKS, readRegistrars(sets)));
  return renderFileTable(report, { width, colors: false }).split("\n");
}

test("a place is named once, the worst ones come last, and what is ok is counted", () => {
  const bad = { args: ["--nope"], container: { resources: { limits: { memory: "32Mi" } } } };
  const lines = rendered({ "bad.yaml": bad, "other.yaml": { args: ["register"] } }, 200);
  expect(lines.map((line) => line.slice(0, 17))).toEqual([
    ...["other.yaml: Daemo", "  WARNING  CSI101", " ".repeat(17), ""],
    ...["bad.yaml: DaemonS", "  PROBLEM  CSI101", " ".repeat(17), "  PROBLEM  CSI105", " ".repeat(17), ""],
    ...["2 problems, 1 war", ""],
  ]);
});

test("a file's name steers no terminal", () => {
  const [place] = rendered({ "\u001b[2J\n.yaml": { args: ["--nope"] } }, 100);
  expect(place).toBe("\\x1b[2J\\n.yaml: DaemonSet ns/x, container registrar");
});
