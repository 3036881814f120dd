import { type Changes, CSI_DRIVER, daemonSet, PATH, said } from "./one-daemon-set";

const wrongPath = ["--csi-address=/csi/x.sock", "--kubelet-registration-path=/csi/x.sock"];
const probe = (port: number | string, path = "/healthz") => ({ livenessProbe: { httpGet: { path, port } } });
const mounts = (...more: readonly object[]) => ({
  volumeMounts: [{ name: "plugin", mountPath: "/csi" }, ...more],
});

test.each<readonly [what: string, expected: RegExp, Changes]>([
  [
    "a probe of a port that nothing is called",
    /^CSI104 problem: .*on the port http, and no port .* -> add to its ports: \{name: http, containerPort: 2\}$/,
    {
      args: ["--http-endpoint=:2"],
      container: { ...probe("http"), ports: [{ name: "web", containerPort: 2 }] },
    },
  ],
  [
    "the container's path",
    /^CSI102 problem: tells kubelet \/csi\/x\.sock, but .* -> write --kubelet-registration-path=\/var\/lib\/kubelet\/plugins\/x\.csi\/x\.sock$/,
    { args: wrongPath },
  ],
  [
    "an emptyDir",
    /^CSI102 problem: .*volume of kind emptyDir/,
    {
      pod: {
        volumes: [
          { name: "plugin", emptyDir: {} },
          { name: "registration", hostPath: { path: "/var/lib/kubelet/plugins_registry" } },
        ],
      },
    },
  ],
  [
    "nothing mounted for the driver",
    /^CSI102 problem: has nothing mounted where --csi-address=\/other/,
    {
      args: ["--csi-address=/other/csi.sock"],
    },
  ],
  [
    "no registration directory",
    /^CSI103 problem: has nothing mounted at \/registration/,
    { container: mounts() },
  ],
  [
    "a read-only one",
    /^CSI103 problem: mounts \/registration read-only/,
    {
      container: mounts({ name: "registration", mountPath: "/registration", readOnly: true }),
    },
  ],
  ...["/var/lib/kubelet/plugins", "/data/plugins_registry/x"].map(
    (path): readonly [string, RegExp, Changes] => [
      `the folder ${path}`,
      /^CSI103 problem: mounts .* at \/registration, and kubelet looks in its plugins_registry only -> mount the hostPath/,
      {
        pod: {
          volumes: [
            { name: "plugin", hostPath: { path: PATH } },
            { name: "registration", hostPath: { path } },
          ],
        },
      },
    ],
  ),
  [
    "two roots",
    /^CSI103 problem: registers in \/var\/lib\/k0s\/kubelet and has the driver's socket in \/var\/lib\/kubelet/,
    {
      pod: {
        volumes: [
          { name: "plugin", hostPath: { path: PATH } },
          { name: "registration", hostPath: { path: "/var/lib/k0s/kubelet/plugins_registry" } },
        ],
      },
    },
  ],
  [
    "a probe of nothing",
    /^CSI104 problem: has a livenessProbe on HTTP, and the registrar serves none/,
    {
      container: probe(9809),
    },
  ],
  [
    "a probe of another port",
    /^CSI104 problem: .*on port 1, and the registrar serves 2/,
    {
      args: ["--http-endpoint=:2"],
      container: probe(1),
    },
  ],
  [
    "a probe of another path",
    /^CSI104 problem: .*on \/health, which it does not serve/,
    {
      args: ["--http-endpoint=:2"],
      container: probe(2, "/health"),
    },
  ],
  [
    "the official's readiness",
    /^CSI104 problem: .*on \/readyz/,
    {
      args: ["--http-endpoint=:2"],
      container: { ...probe(2, "/readyz"), image: "x/csi-node-driver-registrar:v2" },
    },
  ],
  [
    "too little memory for a cold start",
    /^CSI105 problem: has a memory limit of 63Mi: it may never get ready after a reboot ->/,
    {
      container: { resources: { limits: { memory: "63Mi" } } },
    },
  ],
  [
    "thousandths of bytes",
    /^CSI105 problem: has a memory limit of 100m:/,
    {
      container: { resources: { limits: { memory: "100m" } } },
    },
  ],
  [
    "a hook",
    /^CSI106 warning: .*rm -rf/,
    {
      container: {
        lifecycle: { preStop: { exec: { command: ["/bin/sh", "-c", "rm -rf /registration/x"] } } },
      },
    },
  ],
  [
    "surge",
    /^CSI107 problem: updates with maxSurge 10%/,
    {
      spec: {
        updateStrategy: { rollingUpdate: { maxSurge: "10%" } },
      },
    },
  ],
])("%s", (what, expected, changes) => {
  const object = daemonSet(changes);
  // What is given for a pod or a spec replaces its part only.
  const whole = what === "surge" ? { ...object, spec: { ...daemonSet().spec, ...object.spec } } : object;
  expect(said(whole, CSI_DRIVER)).toEqual([expect.stringMatching(expected)]);
});

test("what is right is passed over, and so is what an installer fills in", () => {
  expect(said(daemonSet(), CSI_DRIVER)).toEqual([]);
  expect(said(daemonSet({ args: ["--v=$(LEVEL)"] }), CSI_DRIVER)).toEqual([]);
  const named = { ...probe("healthz"), ports: [{ name: "healthz", containerPort: 2 }] };
  expect(said(daemonSet({ args: ["--http-endpoint=:2"], container: named }), CSI_DRIVER)).toEqual([]);
});

test("the environment of the container is filled in, as kubelet does", () => {
  const container = {
    args: ["--csi-address=$(ADDRESS)", "--kubelet-registration-path=$(HOST)"],
    env: [
      { name: "ADDRESS", value: "/csi/csi.sock" },
      { name: "HOST", value: "/csi/csi.sock" },
    ],
  };
  expect(said(daemonSet({ container }), CSI_DRIVER)).toEqual([
    expect.stringContaining("write --kubelet-registration-path=/var/lib/kubelet/plugins/x.csi/csi.sock"),
  ]);
});

describe("a folder of the volume, out of the environment", () => {
  const mounted = (subPathExpr: string, env: readonly object[]) =>
    daemonSet({
      container: {
        env,
        volumeMounts: [
          { name: "plugins", mountPath: "/csi", subPathExpr },
          { name: "registration", mountPath: "/registration" },
        ],
      },
      pod: {
        volumes: [
          { name: "plugins", hostPath: { path: "/var/lib/kubelet/plugins" } },
          { name: "registration", hostPath: { path: "/var/lib/kubelet/plugins_registry" } },
        ],
      },
    });
  const NODE = { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } };

  test("whose value is known, also by way of another variable", () => {
    const env = [
      { name: "KIND", value: "csi" },
      { name: "NAME", value: "x.$(KIND)" },
    ];
    expect(said(mounted("$(NAME)", env), CSI_DRIVER)).toEqual([]);
    expect(said(mounted("y/$(NAME)", env), CSI_DRIVER)).toEqual([
      expect.stringMatching(
        /^CSI102 problem: .* on the host .* \/var\/lib\/kubelet\/plugins\/y\/x\.csi\/csi\.sock/,
      ),
    ]);
  });

  test.each([
    ["is not in the object", [NODE]],
    ["is known only before it is given again", [{ name: "NODE", value: "x.csi" }, NODE]],
  ])("whose value %s", (_what, env) => {
    expect(said(mounted("$(NODE)", env), CSI_DRIVER)).toEqual([
      expect.stringMatching(
        /^CSI102 unknown: .*filled in: \/var\/lib\/kubelet\/plugins\/\$\(NODE\)\/csi\.sock/,
      ),
    ]);
  });

  test("$$ is a dollar", () => {
    expect(said(mounted("$$(X)", []), CSI_DRIVER)).toEqual([
      expect.stringContaining("/plugins/$(X)/csi.sock"),
    ]);
  });
});

test("two DaemonSets of one driver, on one port of the node, in a List", () => {
  const changes = { args: ["--http-endpoint=:2"], pod: { hostNetwork: true } };
  const one = daemonSet(changes);
  const other = daemonSet({ ...changes, name: "y" });
  expect(said({ kind: "List", items: [one, other, CSI_DRIVER] })).toEqual([
    expect.stringMatching(/^CSI109 problem: both serve on port 2 of the node/),
    expect.stringMatching(/^CSI110 problem: both register .*csi\.sock/),
  ]);
});

test("no CSIDriver beside it is unknown, as it may be applied by itself", () => {
  expect(said(daemonSet())).toEqual([expect.stringMatching(/^CSI111 unknown: has no CSIDriver/)]);
});
