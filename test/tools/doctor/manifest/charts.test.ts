import { CHARTS } from "../../../../src/tools/doctor/manifest/read/charts";
import { type Changes, CSI_DRIVER, daemonSet, expectSaid, said, saidOf } from "./one-daemon-set";

const LIMIT = { resources: { limits: { memory: "32Mi" } } };
const told = (driver: string) => `--kubelet-registration-path=/var/lib/kubelet/plugins/${driver}/csi.sock`;

/** The label as charts have it: on the DaemonSet, or on its pods only. */
function labelled(chart: string, changes: Changes): readonly object[] {
  const object = daemonSet(changes);
  const labels = { "helm.sh/chart": chart };
  const template = { ...object.spec.template, metadata: { labels } };
  return [
    { ...object, metadata: { ...object.metadata, labels } },
    { ...object, spec: { ...object.spec, template } },
  ];
}

test.each<readonly [label: string, end: string]>([
  ["aws-ebs-csi-driver-2.64.0", "; in the chart aws-ebs-csi-driver: sidecars.nodeDriverRegistrar.resources"],
  [
    "azuredisk-csi-driver-v1.34.5",
    "; in the chart azuredisk-csi-driver: linux.resources.nodeDriverRegistrar",
  ],
  ["csi-s3-proxy-1.0.0", ""],
  ["mine-1.0.0", ""],
])("%s: the fix of a memory limit ends with %j", (label, end) => {
  for (const object of labelled(label, { container: LIMIT }))
    expectSaid(said(object, CSI_DRIVER), [`^CSI105 .* at least 64Mi${end}$`]);
});

test("a flag that does not exist: the fix names the value of the arguments", () => {
  const [object = {}] = labelled("proxmox-csi-plugin-0.5.9", { args: ["--nope"] });
  expectSaid(said(object, CSI_DRIVER), [/^CSI101 .*; in the chart proxmox-.*: node\.driverRegistrar\.args$/]);
});

/** The driver's or its folder's name tells the chart of these, which have no label. */
test.each<readonly [RegExp, Changes]>([
  [
    /^CSI105 .*64Mi; in the chart aws-efs-csi-driver: sidecars\.nodeDriverRegistrar\.resources$/,
    { container: LIMIT, args: [told("efs.csi.aws.com")] },
  ],
  [
    /^CSI105 .* reboot -> use registrar manifest --image-policy, which raises it: the chart mayastor has no value for that$/,
    { container: LIMIT, args: [told("io.openebs.mayastor")] },
  ],
  [
    /^CSI114 .*; in the chart openstack-cinder-csi: csi\.nodeDriverRegistrar\.resources$/,
    { container: { resources: { limits: { cpu: "10m" } } }, args: [told("cinder.csi.openstack.org")] },
  ],
  [
    /^CSI104 .* add --http-endpoint=:9809; the chart csi-cloudscale has no value for that: /,
    { args: [told("csi.cloudscale.ch")], container: { livenessProbe: { httpGet: { port: 9809 } } } },
  ],
])("%s", (expected, changes) => {
  expect(saidOf(changes)).toContainEqual(expect.stringMatching(expected));
});

test("a row is there once, has a version or a commit, and a repository with a path", () => {
  expect(new Set(CHARTS.map(({ chart }) => chart)).size).toBe(CHARTS.length);
  expect(CHARTS.length).toBeGreaterThanOrEqual(27);
  for (const row of CHARTS) {
    expect(row.version).toMatch(/^(?:\d+\.\d+\.\d+\S*|commit [0-9a-f]{7})$/);
    expect(row.source).toMatch(/^[\w-]+\/[\w.-]+ \S+$/);
    expect([undefined, "read"]).toContain(row.how);
  }
});
