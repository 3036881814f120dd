import { CSI_DRIVER, daemonSet, PATH, said } from "./one-daemon-set";

const REGISTRY = { name: "registration", hostPath: { path: "/var/lib/kubelet/plugins_registry" } };

describe("a pattern, and mounts below its folder", () => {
  /** A registrar of every driver whose volumes are these: where in the container, and where on the host. */
  const nodeWide = (
    volumes: Readonly<Record<string, string>>,
    [csiAddress, told]: readonly [string, string] = [
      "/plugins/*/csi.sock",
      "/var/lib/kubelet/plugins/*/csi.sock",
    ],
  ) =>
    daemonSet({
      container: {
        args: [`--csi-address=${csiAddress}`, `--kubelet-registration-path=${told}`],
        volumeMounts: [
          ...Object.keys(volumes).map((mountPath, index) => ({ name: `v${index}`, mountPath })),
          { name: "registration", mountPath: "/registration" },
        ],
      },
      pod: {
        volumes: [
          ...Object.values(volumes).map((path, index) => ({ name: `v${index}`, hostPath: { path } })),
          REGISTRY,
        ],
      },
    });

  test.each<readonly [what: string, object]>([
    [
      "a mount for each driver",
      nodeWide({
        "/plugins/a.csi": "/var/lib/kubelet/plugins/a.csi",
        "/plugins/b.csi": "/var/lib/kubelet/plugins/b.csi",
      }),
    ],
    [
      "two stars, and a mount for the first",
      nodeWide({ "/plugins/a": "/data/a" }, ["/plugins/*/x-*/csi.sock", "/data/*/x-*/csi.sock"]),
    ],
    ["one mount for all", nodeWide({ "/plugins": "/var/lib/kubelet/plugins" })],
  ])("%s is well", (_what, object) => {
    expect(said(object, CSI_DRIVER)).toEqual([]);
  });

  test.each<readonly [what: string, object, expected: string]>([
    [
      "another folder of the host",
      nodeWide({
        "/plugins/a.csi": "/var/lib/kubelet/plugins/a.csi",
        "/plugins/b.csi": "/var/lib/kubelet/plugins/c.csi",
      }),
      "CSI102 problem: tells kubelet /var/lib/kubelet/plugins/b.csi/csi.sock, but on the host the driver's socket is /var/lib/kubelet/plugins/c.csi/csi.sock -> mount the hostPath /var/lib/kubelet/plugins/b.csi at /plugins/b.csi",
    ],
    [
      "another name of the socket",
      nodeWide({ "/plugins/a.csi": "/data/a.csi" }, ["/plugins/*/csi.sock", "/data/*/x.sock"]),
      "CSI102 problem: tells kubelet /data/a.csi/x.sock, but on the host the driver's socket is /data/a.csi/csi.sock -> write --kubelet-registration-path=/data/*/csi.sock",
    ],
    [
      "mounts that the pattern does not fit",
      nodeWide({ "/drivers/a.csi": "/var/lib/kubelet/plugins/a.csi" }),
      "CSI102 problem: has nothing mounted where --csi-address=/plugins/*/csi.sock is -> mount the hostPath /var/lib/kubelet/plugins at /plugins",
    ],
  ])("%s", (_what, object, expected) => {
    expect(said(object, CSI_DRIVER)).toEqual([expected]);
  });
});

test("a path that is too long for a socket", () => {
  const host = `/var/lib/kubelet/plugins/${"x".repeat(90)}`;
  const container = { args: ["--csi-address=/csi/s", `--kubelet-registration-path=${host}/s`] };
  const pod = { volumes: [{ name: "plugin", hostPath: { path: host } }, REGISTRY] };
  expect(said(daemonSet({ container, pod }), CSI_DRIVER)).toEqual([
    `CSI102 problem: tells kubelet ${host}/s, which has 117 bytes, a unix socket path may have 107 -> use a shorter folder`,
  ]);
});

test("a registration directory that is too long for a socket", () => {
  const root = `/${"x".repeat(79)}`;
  const volumes = [
    { name: "plugin", hostPath: { path: PATH } },
    { name: "registration", hostPath: { path: `${root}/plugins_registry` } },
  ];
  expect(said(daemonSet({ pod: { volumes } }), CSI_DRIVER)).toEqual([
    `CSI103 problem: makes its socket in ${root}/plugins_registry, where the shortest name has 108 bytes, a unix socket path may have 107 -> give kubelet a shorter --root-dir`,
  ]);
});

describe("a variable that is nowhere stays as it is", () => {
  const told = (path: string, env: readonly object[] = []) =>
    daemonSet({
      container: { args: ["--csi-address=/csi/csi.sock", `--kubelet-registration-path=${path}`], env },
    });

  test.each<readonly [what: string, object, expected: string]>([
    [
      "misspelt",
      told("$(DRIVER_REG_SOCK_PTH)", [{ name: "DRIVER_REG_SOCK_PATH", value: `${PATH}/csi.sock` }]),
      "CSI102 problem: takes $(DRIVER_REG_SOCK_PTH), and no variable of the container is called so: it stays as it is -> did you mean $(DRIVER_REG_SOCK_PATH)?",
    ],
    [
      "without any environment",
      told("$(T)/csi.sock"),
      "CSI102 problem: takes $(T), and no variable of the container is called so: it stays as it is -> add T to its env",
    ],
    [
      "set behind the variable that takes it",
      told("$(P)", [
        { name: "P", value: "/var/lib/kubelet/plugins/$(N)/csi.sock" },
        { name: "N", value: "x.csi" },
      ]),
      "CSI102 problem: takes $(N), which is set behind the variable that takes it: it stays as it is -> put N first in its env",
    ],
    [
      "of the container's path",
      daemonSet({ args: ["--csi-address=/csi/$(NAME)"] }),
      "CSI102 problem: takes $(NAME), and no variable of the container is called so: it stays as it is -> add NAME to its env",
    ],
  ])("%s", (_what, object, expected) => {
    expect(said(object, CSI_DRIVER)).toEqual([expected]);
  });

  test("and is named where the registrar does not start for it", () => {
    const container = { env: [{ name: "ADDRESS", value: "/csi/csi.sock" }] };
    expect(said(daemonSet({ args: ["--csi-address=$(ADRESS)"], container }), CSI_DRIVER)).toEqual([
      expect.stringMatching(
        /^CSI101 problem: does not start: .*\$\(ADRESS\).* -> did you mean \$\(ADDRESS\)\?$/,
      ),
    ]);
  });

  test.each([
    ["an installer's braces", "{{ .Values.path }}", []],
    ["an installer's variable", "$" + "{ROOT}/plugins/x/csi.sock", []],
    ["a service's variable", "/$(FS_SERVICE_HOST)/csi.sock", []],
    ["a value with an installer's braces", "$(P)", [{ name: "P", value: "/{{ .Values.path }}/csi.sock" }]],
  ])("%s is another matter", (_what, path, env) => {
    expect(said(told(path, env), CSI_DRIVER)).toEqual([expect.stringMatching(/^CSI10[12] unknown: /)]);
  });
});

test.each([
  ["/var/lib/k0s/kubelet", "/var/lib/k0s/kubelet"],
  ["/data/{{ kubelet }}", "/var/lib/kubelet"],
])("the directory to mount is in the kubelet root of the driver's socket, %s", (root, expected) => {
  const plugin = { name: "plugin", hostPath: { path: `${root}/plugins/x.csi` } };
  const told = `--kubelet-registration-path=${root}/plugins/x.csi/csi.sock`;
  expect(said(daemonSet({ args: [told], pod: { volumes: [plugin] } }), CSI_DRIVER)).toContainEqual(
    expect.stringMatching(new RegExp(`^CSI103 .*-> mount the hostPath ${expected}/plugins_registry there$`)),
  );
});
