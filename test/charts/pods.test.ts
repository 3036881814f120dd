import type { Finding } from "../../src/tools/doctor/findings/finding";
import { findingsIn, findingsOfSwapIn, PODS } from "./pods";

const briefly = ({ code, status, subject }: Finding) =>
  `${code} ${status} ${subject.replace(/.*, container /s, "")}`;

test.each(PODS.map((row) => [row.project, row.path, row.values ?? "", row] as const))(
  "%s %s %s: doctor says what is true, and nothing else",
  (_project, _path, _values, row) => {
    expect(findingsIn(row).map(briefly)).toEqual(row.findings);
    expect(findingsOfSwapIn(row).map(briefly)).toEqual(row.swapped);
  },
);

test("two charts on one node: both have port 9809 of the node", () => {
  const rows = PODS.filter(
    ({ path, values }) => path === "charts/aws-efs-csi-driver" || values === "node.hostNetwork=true",
  );
  expect(findingsIn(...rows).filter(({ code }) => code === "CSI109")).toEqual([
    expect.objectContaining({
      subject:
        "a.yaml: DaemonSet kube-system/ebs-csi-node, container node-driver-registrar and a.yaml: DaemonSet kube-system/efs-csi-node, container liveness-probe",
      text: "both serve on port 9809 of the node",
      fix: "give each a port of its own; at present: --http-endpoint=0.0.0.0:9809, --health-port=9809",
    }),
  ]);
});
