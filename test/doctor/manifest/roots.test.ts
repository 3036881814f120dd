import { type Changes, daemonSet, said, saidOf } from "./one-daemon-set";

const hostPath = (path: string) => ({ hostPath: { path } });

/** Where the driver's folder, the registration directory and the pods are on the host. */
const rooted = (driver: string, registry: string, ...others: readonly string[]): Changes => ({
  args: [`--kubelet-registration-path=${driver}/csi.sock`],
  pod: {
    volumes: [
      { name: "plugin", ...hostPath(driver) },
      { name: "registration", ...hostPath(registry) },
      ...others.map((path) => ({ name: path, ...hostPath(path) })),
    ],
  },
});
const DATA = "/data/kubelet";
const VAR = "/var/lib/kubelet";

test.each<readonly [expected: string, Changes]>([
  [
    `registers in ${VAR} and has the driver's socket in ${DATA}: a node has one kubelet root -> use one of them everywhere: ${VAR}, or ${DATA}`,
    rooted(`${DATA}/plugins/x`, `${VAR}/plugins_registry`),
  ],
  [
    `registers in ${VAR} and has the driver's socket in ${DATA}: a node has one kubelet root -> use one everywhere: the pod mounts ${DATA}/pods`,
    rooted(`${DATA}/plugins/x`, `${VAR}/plugins_registry/`, `${DATA}/pods/`),
  ],
  [
    `registers in ${DATA}, and its pod mounts ${VAR}/pods: a node has one kubelet root -> use one of them everywhere: ${DATA}, or ${VAR}`,
    rooted("/run/x", `${DATA}/plugins_registry`, `${VAR}/pods`),
  ],
  [
    "mounts /x at /registration, and kubelet looks in its plugins_registry only -> mount the hostPath /data/kubelet/plugins_registry there",
    rooted("/run/x", "/x", "/etc/kubelet", `${DATA}/pods`),
  ],
])("%s", (expected, changes) => {
  expect(saidOf(changes)).toEqual([`CSI103 problem: ${expected}`]);
});

test.each([
  rooted(`${DATA}/plugins/x`, `${DATA}/plugins_registry`, `${DATA}/pods`, `${VAR}/pods`),
  rooted("/opt/x/plugins/y", `${VAR}/plugins_registry`, "/opt/cni/plugins"),
  rooted(`${VAR}/csi-plugins/x`, `${VAR}/plugins_registry`, VAR),
  rooted("/x", "/opt/plugins_registry", "/opt/pods"),
])("one root in %j", (changes) => {
  expect(saidOf(changes)).toEqual([]);
});

test("the driver's name makes its registration socket's path too long", () => {
  const name = `${"x".repeat(40)}.csi`;
  const driver = (args: readonly string[]) => ({
    registry: `/${"r".repeat(50)}/plugins_registry`,
    pod: { containers: [...daemonSet().spec.template.spec.containers.slice(0, 1), { name: "driver", args }] },
  });
  expect(
    said(daemonSet(driver([`--drivername=${name}`])), { kind: "CSIDriver", metadata: { name } }),
  ).toEqual([
    expect.stringMatching(
      /^CSI103 problem: .*, where x+\.csi-reg\.sock has 122 bytes, .* -> give kubelet a shorter --root-dir, or the driver a shorter name$/,
    ),
  ]);
  expect(saidOf(driver([`--drivername=${name}`, "--csi-name=x.csi"]))).toEqual([
    expect.stringContaining("a node has one kubelet root"),
  ]);
});
