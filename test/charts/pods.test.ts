import { findingsIn, PODS } from "./pods";

test.each(PODS.map((row) => [row.project, row.path, row.values ?? "", row] as const))(
  "%s %s %s: doctor says what is true, and nothing else",
  (_project, _path, _values, row) => {
    const said = findingsIn(row).map(({ code, status, subject }) => {
      const container = subject.replace(/.*, container /s, "");
      return `${code} ${status} ${container}`;
    });
    expect(said).toEqual(row.findings);
  },
);
