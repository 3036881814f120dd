import { type Changes, daemonSet, expectSaid, PATH, said, saidOf, TOLD } from "./one-daemon-set";

const REGISTRY = { name: "registration", hostPath: { path: "/var/lib/kubelet/plugins_registry" } };
const mounts = (...more: readonly object[]) => ({
  volumeMounts: [{ name: "plugin", mountPath: "/csi" }, ...more],
});
const hostPath = (path: string) => ({ hostPath: { path } });
const LONG = `/var/lib/kubelet/plugins/${"x".repeat(90)}`;
const LONG_ROOT = `/${"x".repeat(79)}`;

test.each<readonly [expected: RegExp, Changes]>([
  [
    /^CSI102 problem: tells kubelet \/csi\/x\.sock, but .* -> write --kubelet-registration-path=\/var\/lib\/kubelet\/plugins\/x\.csi\/x\.sock$/,
    { args: ["--csi-address=/csi/x.sock", "--kubelet-registration-path=/csi/x.sock"] },
  ],
  [/^CSI102 problem: .*volume of kind emptyDir/, { plugin: { emptyDir: {} } }],
  [/^CSI102 problem: mounts the volume plugin, which the pod does/, { pod: { volumes: [REGISTRY] } }],
  [/^CSI102 .* nothing mounted where --csi-address=\/other/, { args: ["--csi-address=/other/csi.sock"] }],
  [
    /^CSI102 warning: has --csi-address=csi\.sock, relative to the directory in which the container starts: .* -> write an absolute path$/,
    { args: ["--csi-address=unix:csi.sock"] },
  ],
  [
    /^CSI102 problem: tells kubelet .*, which has 117 bytes, a unix socket path may have 107 -> use a shorter directory$/,
    {
      plugin: hostPath(LONG),
      container: { args: ["--csi-address=/csi/s", `--kubelet-registration-path=${LONG}/s`] },
    },
  ],
  [/^CSI103 problem: has nothing mounted at \/registration/, { container: mounts() }],
  [
    /^CSI103 problem: mounts \/registration read-only/,
    { container: mounts({ name: "registration", mountPath: "/registration", readOnly: true }) },
  ],
  ...["/var/lib/kubelet/plugins", "/data/plugins_registry/x"].map((registry): readonly [RegExp, Changes] => [
    /^CSI103 problem: mounts .* at \/registration, and kubelet looks in its plugins_registry only -> mount the hostPath/,
    { registry },
  ]),
  [
    /^CSI103 problem: registers in \/var\/lib\/k0s\/kubelet and has the driver's socket in \/var\/lib\/kubelet/,
    { registry: "/var/lib/k0s/kubelet/plugins_registry" },
  ],
  [
    /^CSI103 problem: makes its socket in .*, where the shortest name has 108 bytes, .* -> give kubelet a shorter --root-dir$/,
    { registry: `${LONG_ROOT}/plugins_registry` },
  ],
])("%s", (expected, changes) => {
  expectSaid(saidOf(changes), [expected]);
});

test.each([
  ["/var/lib/k0s/kubelet", "/var/lib/k0s/kubelet"],
  ["/data/{{ kubelet }}", "/var/lib/kubelet"],
])("the directory to mount is in the kubelet root of the driver's socket, %s", (root, expected) => {
  const plugin = { name: "plugin", ...hostPath(`${root}/plugins/x.csi`) };
  const args = [`--kubelet-registration-path=${root}/plugins/x.csi/csi.sock`];
  expect(saidOf({ args, pod: { volumes: [plugin] } })).toContainEqual(
    expect.stringMatching(new RegExp(`^CSI103 .*-> mount the hostPath ${expected}/plugins_registry there$`)),
  );
});

describe("a pattern, and mounts below its folder", () => {
  /** A registrar of every driver with these volumes: folder in the container -> folder on the host. */
  const nodeWide = (
    volumes: Readonly<Record<string, string>>,
    csiAddress = "/plugins/*/csi.sock",
    told = "/var/lib/kubelet/plugins/*/csi.sock",
  ): Changes => {
    const folders = Object.entries(volumes).map(([mountPath, path], n) => ({
      mountPath,
      path,
      name: `v${n}`,
    }));
    return {
      container: {
        args: [`--csi-address=${csiAddress}`, `--kubelet-registration-path=${told}`],
        volumeMounts: [...folders, { name: "registration", mountPath: "/registration" }],
      },
      pod: { volumes: [...folders.map(({ name, path }) => ({ name, ...hostPath(path) })), REGISTRY] },
    };
  };
  const plugins = (name: string) => `/var/lib/kubelet/plugins/${name}`;

  test.each<readonly [what: string, Changes, expected: readonly string[]]>([
    ["each driver", nodeWide({ "/plugins/a": plugins("a"), "/plugins/b": plugins("b") }), []],
    ["the first star", nodeWide({ "/plugins/a": "/data/a" }, "/plugins/*/x-*/s", "/data/*/x-*/s"), []],
    ["all drivers", nodeWide({ "/plugins": "/var/lib/kubelet/plugins" }), []],
    [
      "another folder of the host",
      nodeWide({ "/plugins/a": plugins("a"), "/plugins/b": plugins("c") }),
      [
        "CSI102 problem: tells kubelet /var/lib/kubelet/plugins/b/csi.sock, but on the host the driver's socket is /var/lib/kubelet/plugins/c/csi.sock -> mount the hostPath /var/lib/kubelet/plugins/b at /plugins/b",
      ],
    ],
    [
      "another name of the socket",
      nodeWide({ "/plugins/a": "/data/a" }, "/plugins/*/csi.sock", "/data/*/x.sock"),
      [
        "CSI102 problem: tells kubelet /data/a/x.sock, but on the host the driver's socket is /data/a/csi.sock -> write --kubelet-registration-path=/data/*/csi.sock",
      ],
    ],
    [
      "folders that the pattern does not fit",
      nodeWide({ "/drivers/a": plugins("a") }),
      [
        "CSI102 problem: has nothing mounted where --csi-address=/plugins/*/csi.sock is -> mount the hostPath /var/lib/kubelet/plugins at /plugins",
      ],
    ],
  ])("a mount for %s", (_what, changes, expected) => {
    expect(saidOf(changes)).toEqual(expected);
  });
});

describe("variables in a path", () => {
  const told = (path: string, env: readonly object[] = []): Changes => ({
    container: { args: ["--csi-address=/csi/csi.sock", `--kubelet-registration-path=${path}`], env },
  });

  test("the environment of the container is filled in, as kubelet does", () => {
    const env = [{ name: "HOST", value: "/csi/csi.sock" }];
    expect(saidOf(told("$(HOST)", env))).toEqual([expect.stringContaining(`write ${TOLD}`)]);
  });

  test.each<readonly [Changes, expected: string]>([
    [
      told("$(REG_SOCK_PTH)", [{ name: "REG_SOCK_PATH", value: `${PATH}/csi.sock` }]),
      "$(REG_SOCK_PTH), and no variable of the container is called so: it stays as it is -> did you mean $(REG_SOCK_PATH)?",
    ],
    [
      told("$(T)/csi.sock"),
      "$(T), and no variable of the container is called so: it stays as it is -> add T to its env",
    ],
    [
      told("$(P)", [
        { name: "P", value: "/var/lib/kubelet/plugins/$(N)/csi.sock" },
        { name: "N", value: "x.csi" },
      ]),
      "$(N), which is set behind the variable that takes it: it stays as it is -> put N first in its env",
    ],
    [
      { args: ["--csi-address=/csi/$(NAME)"] },
      "$(NAME), and no variable of the container is called so: it stays as it is -> add NAME to its env",
    ],
  ])("without a value: %j", (changes, expected) => {
    expect(saidOf(changes)).toEqual([`CSI102 problem: takes ${expected}`]);
  });

  test("a misspelt variable is named where the registrar does not start for it", () => {
    const container = { env: [{ name: "ADDRESS", value: "/csi/csi.sock" }] };
    expectSaid(saidOf({ args: ["--csi-address=$(ADRESS)"], container }), [
      /^CSI101 problem: does not start: .*\$\(ADRESS\).* -> did you mean \$\(ADDRESS\)\?$/,
    ]);
  });

  test.each([
    ["{{ .Values.path }}", []],
    ["$" + "{ROOT}/plugins/x/csi.sock", []],
    ["/$(FS_SERVICE_HOST)/csi.sock", []],
    ["$(P)", [{ name: "P", value: "/{{ .Values.path }}/csi.sock" }]],
  ])("an installer or kubelet fills in %s", (path, env) => {
    expectSaid(saidOf(told(path, env)), [/^CSI10[12] unknown: /]);
  });
});

describe("a folder of the volume by an expression", () => {
  const mounted = (subPathExpr: string, ...env: readonly object[]): Changes => ({
    plugin: hostPath("/var/lib/kubelet/plugins"),
    container: {
      env,
      volumeMounts: [
        { name: "plugin", mountPath: "/csi", subPathExpr },
        { name: "registration", mountPath: "/registration" },
      ],
    },
  });
  const NODE = { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } };
  const KIND = { name: "KIND", value: "csi" };
  const NAME = { name: "NAME", value: "x.$(KIND)" };
  const NOT_FILLED_IN = /^CSI102 unknown: .*filled in: \/var\/lib\/kubelet\/plugins\/\$\(NODE\)\/csi\.sock/;

  test.each<readonly [expected: RegExp | undefined, Changes]>([
    [undefined, mounted("$(NAME)", KIND, NAME)],
    [/on the host .* \/var\/lib\/kubelet\/plugins\/y\/x\.csi\/csi\.sock/, mounted("y/$(NAME)", KIND, NAME)],
    [NOT_FILLED_IN, mounted("$(NODE)", NODE)],
    [NOT_FILLED_IN, mounted("$(NODE)", { name: "NODE", value: "x.csi" }, NODE)],
    [/\/plugins\/\$\(X\)\/csi\.sock/, mounted("$$(X)")],
  ])("%s", (expected, changes) => {
    expect(saidOf(changes)).toEqual(expected ? [expect.stringMatching(expected)] : []);
  });
});

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
