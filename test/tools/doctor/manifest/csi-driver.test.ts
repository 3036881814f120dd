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

test.each<readonly [what: string, expected: string | undefined, objects: readonly object[]]>([
  [
    "one of two is missing",
    "b.csi without a CSIDriver object, and there is one for a.csi -> apply its CSIDriver object",
    [driver("a.csi"), driver("b.csi"), ...csiDrivers("a.csi")],
  ],
  [
    "the folder has almost the same name",
    "disk.exmaple.com without a CSIDriver object, and there is one for disk.example.com -> use one name for both",
    [driver("disk.exmaple.com"), ...csiDrivers("disk.example.com")],
  ],
  [
    "the driver calls itself otherwise",
    "a.csi without a CSIDriver object, and there is one for other.org -> apply its CSIDriver object",
    [driver("x", "a.csi"), ...csiDrivers("other.org")],
  ],
  ["the folder may have any name", undefined, [driver("lvm-localpv"), ...csiDrivers("local.csi.openebs.io")]],
  ["its flag", undefined, [driver("csi-nfsplugin", "nfs.csi.k8s.io"), ...csiDrivers("nfs.csi.k8s.io")]],
  ["a template", undefined, [driver("a.csi"), driver("b.csi"), ...csiDrivers("a.csi", "{{ .name }}")]],
])("CSIDriver objects: %s", (_what, expected, objects) => {
  const lines = said(...objects).filter((line) => line.startsWith("CSI111"));
  expect(lines).toEqual(expected ? [expect.stringContaining(`warning: has the driver ${expected}`)] : []);
});

test("without a CSIDriver in the files", () => {
  expectSaid(said(daemonSet()), [/^CSI111 unknown: has no CSIDriver/]);
});
