import { type Changes, expectSaid, OFFICIAL, PATH, saidOf, TOLD } from "./one-daemon-set";

const REGISTRY = { name: "registration", hostPath: { path: "/var/lib/kubelet/plugins_registry" } };
const mounts = (...more: readonly object[]) => ({
  volumeMounts: [{ name: "plugin", mountPath: "/csi" }, ...more],
});
const hostPath = (path: string) => ({ hostPath: { path } });
const LONG = `/var/lib/kubelet/plugins/${"x".repeat(90)}`;
const LONG_ROOT = `/${"x".repeat(75)}`;

test.each<readonly [expected: RegExp, Changes]>([
  [
    /^CSI102 problem: tells kubelet \/csi\/x\.sock, but .* -> write: --kubelet-registration-path=.*x\.csi\/x\.sock$/,
    { more: ["--csi-address=/csi/x.sock", "--kubelet-registration-path=/csi/x.sock"] },
  ],
  [/^CSI102 problem: .*volume of kind emptyDir/, { plugin: { emptyDir: {} } }],
  ...[{}, { path: "" }, { path: null }].flatMap((none): [RegExp, Changes][] => [
    [/^CSI102 problem: has a hostPath without a path at \/csi: .* -> make/, { plugin: { hostPath: none } }],
    [
      /^CSI103 problem: has a hostPath without a path at \/registration: .* -> mount the hostPath .*plugins_registry/,
      {
        pod: {
          volumes: [
            { name: "plugin", hostPath: { path: PATH } },
            { ...REGISTRY, hostPath: none },
          ],
        },
      },
    ],
  ]),
  ...["", null].map((mountPath): [RegExp, Changes] => [
    /^CSI103 problem: mounts the volume registration without a mountPath: the API server refuses it -> add its/,
    mounts({ ...REGISTRY, mountPath }),
  ]),
  ...[`${PATH}/../x.csi`, `${PATH}/a/..`].map((path): [RegExp, Changes] => [
    /^CSI103 problem: has the path .*, with a \.\.: the API server refuses it -> write \/var\/lib\/kubelet\/plugins\/x\.csi\/?$/,
    { plugin: hostPath(path) },
  ]),
  [
    /^CSI103 problem: has the path a\/\.\., with a \.\./,
    mounts({ ...REGISTRY, mountPath: "/registration" }, { name: "plugin", mountPath: "/a", subPath: "a/.." }),
  ],
  [
    /^CSI103 problem: has two mounts at \/csi: the API server refuses it -> leave one of them$/,
    mounts({ name: "registration", mountPath: "/csi" }, { ...REGISTRY, mountPath: "/registration" }),
  ],
  [
    /^CSI103 problem: has two volumes of the name registration: the API server refuses it/,
    { pod: { volumes: [{ name: "plugin", ...hostPath(PATH) }, REGISTRY, REGISTRY] } },
  ],
  [
    /^CSI101 problem: restarts forever: .* dials \/csi\/csi\.sock\/, and .* -> write: --csi-address=\/csi\/csi\.sock$/,
    { image: OFFICIAL, more: ["--csi-address=/csi/csi.sock/"] },
  ],
  [/^CSI102 problem: mounts .* plugin, and its pod has no volume of/, { pod: { volumes: [REGISTRY] } }],
  [/^CSI102 .* nothing mounted where --csi-address=\/other/, { more: ["--csi-address=/other/csi.sock"] }],
  [
    /^CSI102 .* nothing mounted where --csi-address=\/run\/csi\/socket is -> add: --csi-address=\/csi\/csi\.sock$/,
    { args: [TOLD] },
  ],
  [/^CSI102 .* -> write: --csi-address=\/csi\/csi\.sock$/, { more: ["--csi-address=/run/csi/csi.sock"] }],
  [
    /^CSI102 .* -> mount the driver's hostPath volume there$/,
    { args: ["--kubelet-registration-path=/var/lib/kubelet/plugins/y.csi/csi.sock"] },
  ],
  [
    /^CSI102 .* -> mount the driver's hostPath volume there$/,
    {
      ...mounts({ name: "registration", mountPath: "/csi/sub" }, { ...REGISTRY, mountPath: "/registration" }),
      args: [`--kubelet-registration-path=${PATH}/sub/csi.sock`],
    },
  ],
  ...["", "Directory", "DirectoryOrCreate"].map((type): [RegExp, Changes] => [
    /^CSI102 problem: mounts .*\/x\.csi\/csi\.sock at \/csi: that is the socket, .* -> write path: .*\/plugins\/x\.csi, type: DirectoryOrCreate$/,
    { plugin: { hostPath: { path: `${PATH}/csi.sock`, type } } },
  ]),
  [
    /^CSI102 problem: has a hostPath of type Socket at \/csi, .* -> write path: .*\/plugins\/x\.csi, type: DirectoryOrCreate$/,
    { plugin: { hostPath: { path: `${PATH}/csi.sock`, type: "Socket" } } },
  ],
  [/^CSI102 warning: has the relative --csi-address=csi\.sock/, { more: ["--csi-address=unix:csi.sock"] }],
  [
    /^CSI102 problem: tells kubelet .*, which has 117 bytes, but a unix socket path has at most 107 -> use a shorter/,
    { plugin: hostPath(LONG), more: ["--csi-address=/csi/s", `--kubelet-registration-path=${LONG}/s`] },
  ],
  [
    /^CSI102 problem: tells kubelet .*csi\.sock\/: a path that ends with \/ is no .* -> write: .*\/csi\.sock$/,
    { more: [`${TOLD}/`] },
  ],
  [/^CSI103 problem: has nothing mounted at \/registration/, mounts()],
  [
    /^CSI103 problem: has nothing mounted at \/ -> mount the hostPath .* at \/registration, and take --plugin-reg/,
    { more: ["--plugin-registration-path="], image: OFFICIAL },
  ],
  [
    /^CSI101 problem: does not start: plugin-registration-path is ""/,
    { more: ["--plugin-registration-path="] },
  ],
  [
    /^CSI103 problem: mounts \/registration read-only/,
    mounts({ name: "registration", mountPath: "/registration", readOnly: true }),
  ],
  [
    /^CSI103 problem: mounts .*, and kubelet looks in its plugins_registry only/,
    { registry: "/data/plugins" },
  ],
  [
    /^CSI103 problem: makes its socket at .*, which has 1\d\d bytes/,
    { registry: `/data/plugins_registry/${"x".repeat(90)}` },
  ],
  [
    /^CSI103 warning: makes its socket at .*, which has 108 bytes/,
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
  const more = [`--kubelet-registration-path=${root}/plugins/x.csi/csi.sock`];
  const fix = `its pod has no volume of that name: the API server refuses it -> mount the hostPath ${expected}/plugins_registry there`;
  expect(saidOf({ more, pod: { volumes: [plugin] } })).toContainEqual(expect.stringContaining(fix));
});

describe("a pattern, and mounts below its folder", () => {
  /** A registrar of every driver with these volumes: folder in the container -> folder on the host. */
  const nodeWide = (volumes: Readonly<Record<string, string>>): Changes => {
    const folders = Object.entries(volumes).map(([mountPath, path], n) => ({
      mountPath,
      path,
      name: `v${n}`,
    }));
    return {
      args: ["--csi-address=/plugins/*/csi.sock", `--kubelet-registration-path=${plugins("*")}/csi.sock`],
      volumeMounts: [...folders, { name: "registration", mountPath: "/registration" }],
      pod: { volumes: [...folders.map(({ name, path }) => ({ name, ...hostPath(path) })), REGISTRY] },
    };
  };
  const plugins = (name: string) => `/var/lib/kubelet/plugins/${name}`;

  test.each<[what: string, Changes, expected?: string]>([
    ["all drivers", nodeWide({ "/plugins": "/var/lib/kubelet/plugins" })],
    ["all drivers, and one", nodeWide({ "/plugins": plugins(""), "/plugins/a": "/x" }), "unknown: has mou"],
    ["each driver", nodeWide({ "/plugins/a": plugins("a"), "/plugins/b": "/x" }), "unknown: has mounts"],
    [
      "another folder of the host, and one driver",
      nodeWide({ "/plugins": "/data", "/plugins/a": "/x" }),
      "problem: tells kubelet .*/plugins/\\*/csi.sock, but .* is /data/\\*/csi.sock -> write",
    ],
    [
      "folders that the pattern does not fit",
      nodeWide({ "/drivers/a": plugins("a") }),
      "problem: has nothing mounted where --csi-address=/plugins/\\*/csi.sock is -> mount",
    ],
  ])("a mount for %s", (_what, changes, expected = "") => {
    expectSaid(saidOf(changes), expected ? [`^CSI102 ${expected}`] : []);
  });
});

test("a driver's socket in kubelet's registration directory", () => {
  const path = "/var/lib/kubelet/plugins_registry/x";
  expectSaid(saidOf({ more: [`--kubelet-registration-path=${path}/csi.sock`], plugin: hostPath(path) }), [
    /^CSI102 warning: has the driver's socket in kubelet's registration directory: /,
  ]);
});

describe("variables in a path", () => {
  const told = (path: string, ...env: readonly object[]): Changes => ({
    args: ["--csi-address=/csi/csi.sock", `--kubelet-registration-path=${path}`],
    env,
  });
  const REFERS = { name: "P", value: "/var/lib/kubelet/plugins/$(N)/csi.sock" };

  test.each<readonly [Changes, name: string]>([
    [told("$(SOCK)", { name: "SOCKET" }), "SOCK"],
    [told("$(P)", REFERS, { name: "N", value: "x.csi" }), "N"],
    [{ more: ["--csi-address=/csi/$(NAME)"] }, "NAME"],
  ])("without a value: %j", (changes, name) => {
    expect(saidOf(changes)).toEqual([
      `CSI102 problem: takes $(${name}), which its env does not define before it -> define ${name} in its env, before what uses it`,
    ]);
  });

  test("the environment of the container is filled in, as kubelet does", () => {
    expectSaid(saidOf(told("$(HOST)", { name: "HOST", value: "/csi/csi.sock" })), [`write: ${TOLD}`]);
  });

  test("a variable without a value is named where the registrar does not start for it", () => {
    const expected = /^CSI101 problem: does not start: .* -> define ADDRESS in its env, before what uses it$/;
    expectSaid(saidOf({ more: ["--csi-address=$(ADDRESS)"] }), [expected]);
  });

  test.each([
    told("{{ .Values.path }}"),
    told("$" + "{ROOT}/plugins/x/csi.sock"),
    told("/$(FS_SERVICE_HOST)/csi.sock"),
    told("$(P)", { name: "P", value: "/{{ .Values.path }}/csi.sock" }),
  ])("an installer or kubelet fills in %j", (changes) => {
    expectSaid(saidOf(changes), [/^CSI10[12] unknown: /]);
  });
});

describe("a folder of the volume by an expression", () => {
  const mounted = (subPathExpr: string, ...env: readonly object[]): Changes => ({
    plugin: hostPath("/var/lib/kubelet/plugins"),
    env,
    volumeMounts: [
      { name: "plugin", mountPath: "/csi", subPathExpr },
      { name: "registration", mountPath: "/registration" },
    ],
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
  more: [`--kubelet-registration-path=${driver}/csi.sock`],
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

const SNAP = "/var/snap/microk8s/common/var/lib/kubelet";
const LINK = "with MicroK8s one may be a link to the other";

test("with MicroK8s kubelet's default root may be a link", () => {
  const changes = {
    plugin: { hostPath: { path: `${SNAP}/plugins/x.csi` } },
    registry: `${SNAP}/plugins_registry`,
  };
  const fix = `write: --kubelet-registration-path=${SNAP}/plugins/x.csi/csi.sock`;
  expectSaid(saidOf(changes), [
    `^CSI102 unknown: tells kubelet ${PATH}/csi.sock, and .*: ${LINK} -> ${fix}$`,
  ]);
});

const ONE_ROOT = "^CSI103 problem: .*: a node has one kubelet root -> use one of them everywhere:";

test.each<[Changes, expected?: string]>([
  [
    rooted(`${DATA}/plugins/x`, `${VAR}/plugins_registry/`, `${DATA}/pods/`),
    `${ONE_ROOT} ${VAR}, or ${DATA}$`,
  ],
  [rooted("/run/x", `${DATA}/plugins_registry`, `${VAR}/pods`), `${ONE_ROOT} ${DATA}, or ${VAR}$`],
  [
    rooted("/run/x", "/x", "/etc/kubelet", `${DATA}/pods`),
    "^CSI103 .* mounts /x at /registration, .* -> mount the hostPath /data/kubelet/plugins_registry there$",
  ],
  // The registration socket has the name of the driver's directory, if that is one of a driver.
  [
    rooted(`${VAR}/plugins/${"x".repeat(40)}.csi`, `/${"r".repeat(50)}/plugins_registry`),
    "^CSI103 warning: makes its socket at .*/x+\\.csi-reg\\.sock, which has 122 bytes",
  ],
  [rooted(`${VAR}/plugins/${"x".repeat(44)}`, `/${"r".repeat(50)}/plugins_registry`), ONE_ROOT],
  [rooted(`${DATA}/plugins/x`, `${DATA}/plugins_registry`, `${DATA}/pods`, `${VAR}/pods`)],
  [rooted("/opt/x/plugins/y", `${VAR}/plugins_registry`, "/opt/cni/plugins")],
  [rooted(`${VAR}/csi-plugins/x`, `${VAR}/plugins_registry`, VAR)],
  [rooted("/x", "/opt/plugins_registry", "/opt/pods")],
  [
    rooted(`${SNAP}/plugins/x`, `${SNAP}/plugins_registry`, `${VAR}/pods`),
    `^CSI103 unknown: .*: ${LINK} -> use one`,
  ],
  // A directory may be called as a socket is.
  [rooted(`${VAR}/plugins/x/csi.sock`, `${VAR}/plugins_registry`)],
  // Kubelet registers from a subdirectory, too.
  [{ registry: "/var/lib/kubelet/plugins_registry/x" }],
])("kubelet's root in %j", (changes, expected = "") => {
  expectSaid(saidOf(changes), expected ? [expected] : []);
});
