import { daemonSet, expectSaid, said } from "./one-daemon-set";

const csiDrivers = (...names: readonly string[]) =>
  names.map((name) => ({ kind: "CSIDriver", metadata: { name } }));
/** A DaemonSet with a driver of this socket's folder, and of this name where a flag tells it. */
const driver = (folder: string, name?: string) => {
  const path = `/var/lib/kubelet/plugins/${folder}`;
  const args = ["--csi-address=/csi/csi.sock", `--kubelet-registration-path=${path}/csi.sock`];
  const [registrar] = daemonSet({ container: { args } }).spec.template.spec.containers;
  const containers = [
    registrar,
    { name: "driver", args: name === undefined ? [] : [`--drivername=${name}`] },
  ];
  return daemonSet({ name: folder, plugin: { hostPath: { path } }, pod: { containers } });
};

const CSI_DRIVERS: readonly (readonly [what: string, expected: string | undefined, ...objects: object[]])[] =
  [
    [
      "one of two is missing",
      "has the driver b.csi without a CSIDriver object, and there is one for a.csi -> apply one",
      driver("a.csi"),
      driver("b.csi"),
      ...csiDrivers("a.csi"),
    ],
    [
      "the folder has almost the same name",
      "has the driver disk.exmaple.com, and the CSIDriver is called disk.example.com -> use one name for both",
      driver("disk.exmaple.com"),
      ...csiDrivers("disk.example.com"),
    ],
    [
      "the driver calls itself otherwise",
      "has the driver a.csi without a CSIDriver object, and there is one for other.org -> apply one",
      driver("x", "a.csi"),
      ...csiDrivers("other.org"),
    ],
    ["the folder may have any name", undefined, driver("lvm-localpv"), ...csiDrivers("local.csi.openebs.io")],
    ["its flag", undefined, driver("csi-nfsplugin", "nfs.csi.k8s.io"), ...csiDrivers("nfs.csi.k8s.io")],
    ["a template", undefined, driver("a.csi"), driver("b.csi"), ...csiDrivers("a.csi", "{{ .name }}")],
  ];

const ROWS = CSI_DRIVERS.map(([what, expected, ...objects]) => [what, expected, objects] as const);

test.each(ROWS)("CSIDriver objects: %s", (_what, expected, objects) => {
  const lines = said(...objects).filter((line) => line.startsWith("CSI111"));
  expect(lines).toEqual(expected ? [expect.stringContaining(`CSI111 warning: ${expected}`)] : []);
});

test("without a CSIDriver in the files", () => {
  expectSaid(said(daemonSet()), [/^CSI111 unknown: has no CSIDriver/]);
});

test.each<readonly [spec: object | null, expected: string | undefined]>([
  [{ serviceAccountTokenInSecrets: false }, "has serviceAccountTokenInSecrets without tokenRequests"],
  [{ serviceAccountTokenInSecrets: true, tokenRequests: [{ audience: "" }] }, undefined],
  ...[9, "5", 10.5, true].map(
    (value) =>
      [
        { nodeAllocatableUpdatePeriodSeconds: value },
        `CSI118 problem: has nodeAllocatableUpdatePeriodSeconds ${JSON.stringify(value)}: the API server refuses it -> write a whole number from 10 on`,
      ] as const,
  ),
  [{ nodeAllocatableUpdatePeriodSeconds: 10, fsGroupPolicy: "None", volumeLifecycleModes: null }, undefined],
  [{ preventPodSchedulingIfMissing: "yes" }, 'has preventPodSchedulingIfMissing "yes": the API server'],
  [{ serviceAccountTokenInSecrets: 1, tokenRequests: [null] }, "has serviceAccountTokenInSecrets 1: the API"],
  [{ fsGroupPolicy: "Foo" }, 'has fsGroupPolicy "Foo": the API server refuses it -> write one of Read'],
  [{ fsGroupPolicy: "{{ .policy }}", tokenRequests: "$(REQUESTS)" }, undefined],
  [
    { preventPodSchedulingIfMissing: true, volumeLifecycleModes: ["persistent"] },
    'has volumeLifecycleModes ["persistent"]: the API server refuses it -> write a list of Persistent and',
  ],
  [{ volumeLifecycleModes: "Persistent" }, 'has volumeLifecycleModes "Persistent": the API server'],
  [{ tokenRequests: true }, "has tokenRequests true: the API server refuses it"],
  [{ tokenRequests: ["x"] }, 'has tokenRequests ["x"]: the API server refuses it'],
  [{ tokenRequests: [{ audience: 1 }] }, 'has tokenRequests [{"audience":1}]: the API server refuses it'],
  [{ tokenRequests: [{ audience: "" }, {}] }, 'has tokenRequests [{"audience":""},{}]: the API server'],
  // The API server takes null for the defaults.
  [null, undefined],
  [{ preventPodSchedulingIfMissing: true }, undefined],
  [{ preventPodSchedulingIfMissing: true, volumeLifecycleModes: [] }, undefined],
  [
    { preventPodSchedulingIfMissing: true, volumeLifecycleModes: ["Ephemeral"] },
    "CSI118 warning: has preventPodSchedulingIfMissing, and inline volumes only",
  ],
  [{ preventPodSchedulingIfMissing: true, volumeLifecycleModes: ["Ephemeral", "Persistent"] }, undefined],
])("a CSIDriver with %j", (spec, expected) => {
  const lines = said(driver("a.csi"), { kind: "CSIDriver", metadata: { name: "a.csi" }, spec });
  const found = lines.filter((line) => line.startsWith("CSI118"));
  expect(said({ kind: "CSIDriver", metadata: { name: "a.csi" }, spec })).toEqual(found);
  expect(found).toEqual(expected === undefined ? [] : [expect.stringContaining(expected)]);
});

test.each<readonly [expected: string | undefined, changes: object]>([
  ['has the name "Disk.csi": the API server refuses it -> write', { metadata: { name: "Disk.csi" } }],
  ['has the name "": the API server refuses it', { metadata: null }],
  ["has the name 5: the API server refuses it", { metadata: { name: 5 } }],
  ["has a name of 64 characters, which no driver can have", { metadata: { name: "x".repeat(64) } }],
  [undefined, { metadata: { name: "x".repeat(63) } }],
  [undefined, { metadata: { name: "<driver>" } }],
  ['has fsGroupPolicy "Foo"', { apiVersion: "storage.k8s.io/v1", spec: { fsGroupPolicy: "Foo" } }],
  [undefined, { apiVersion: "storage.k8s.io/v1beta1", spec: { fsGroupPolicy: "Foo" } }],
])("of a CSIDriver alone: %s", (expected, changes) => {
  expect(said({ kind: "CSIDriver", metadata: { name: "a.csi" }, ...changes })).toEqual(
    expected === undefined ? [] : [expect.stringContaining(`CSI118 problem: ${expected}`)],
  );
});
