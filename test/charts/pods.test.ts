import type { Finding } from "../../src/tools/doctor/findings/finding";
import { findingsIn, findingsOfSwapIn } from "../tools/doctor/files/one-daemon-set";
import { PODS } from "./pods";

const briefly = ({ code, status, subject }: Finding) =>
  `${code} ${status} ${subject.replace(/.*, container /s, "")}`;

test.each(PODS.map((row) => [row.project, row.path, row.values ?? "", row] as const))(
  "%s %s %s: doctor says what is true, and nothing else",
  (_project, _path, _values, row) => {
    expect(findingsIn(row.workloads).map(briefly)).toEqual(row.findings);
    expect(findingsOfSwapIn(row.workloads).map(briefly)).toEqual(row.swapped);
  },
);
