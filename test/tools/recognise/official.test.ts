import { officialFlags } from "../../../src/tools/recognise/official";
import { daemonSet, expectSaid, OFFICIAL, said, saidOf } from "../doctor/files/one-daemon-set";

test("v2.17 has the flags that its --help prints", () => {
  const help = `automaxprocs connection-timeout csi-address enable-pprof health-port http-endpoint
    kubelet-registration-path log-flush-frequency log-json-info-buffer-size log-json-split-stream
    log-text-info-buffer-size log-text-split-stream logging-format mode plugin-registration-path timeout v version
    vmodule`;
  expect([...officialFlags().keys()].sort()).toEqual(help.split(/\s+/));
});

const NEWER =
  / has --quite-another, which the official registrar does not have up to v2\.17, and a newer one may have/;

test.each<[words: readonly string[], tag: string, expected?: RegExp]>([
  [["--on-registration-failure=retry"], ":v2.17", /-on-registration-failure -> take .* out, or take this/],
  [["--logtostderr"], ":v2.17", /-logtostderr -> take/],
  [["--kubeconfig=/x"], ":v1.1", /-kubeconfig -> take/],
  [
    ["--automaxprocs"],
    ":v2.13",
    /-automaxprocs -> take --automaxprocs out, or take a release from v2\.14 on$/,
  ],
  [["--timeout=1s"], ":v1.3", /-timeout -> .*v2\.1 on$/],
  [["--csi-adress=/x"], ":v2.17", /-csi-adress -> .*did you mean --csi-address\?$/],
  [["--constructor=1"], ":v2.17", /-constructor -> correct that argument$/],
  [["--quite-another"], ":v2.17", /-quite-another -> correct that argument$/],
  [
    ["--require-driver"],
    ":v2.18",
    /-require-driver -> take --require-driver out, or take this registrar's image/,
  ],
  [
    ["--require-driver", "--v=2", "--allow-drivers=x", "--require-driver", "--node-name=y"],
    ":v2.17",
    /-> take --require-driver, --allow-drivers and --node-name out, .* does not have these flags$/,
  ],
  [["--timeout=1"], "", /: invalid value "1" for flag -timeout: .* -> correct/],
  [["--v=5", "--log-text-split-stream"], ":v2.17", /-log-text-split-stream needs the feature .* -> take/],
  [["--log-json-info-buffer-size=1Ki"], "", /needs the feature LoggingAlphaOptions/],
  [["--logtostderr", "--stderrthreshold=INFO"], ":v2.10"],
  [["--automaxprocs"], ":v2.14"],
  [["--kubeconfig=/x"], ":v1.0"],
  [["--automaxprocs", "--http-endpoint=:1"], ""],
  [["--log-text-split-stream=false", "--log-text-info-buffer-size=0"], ":v2.17"],
  // Whether klog's flags end it depends on the release.
  [["--logtostderr"], "", /^CSI101 unknown: .* before v2\.11 only/],
  [["--quite-another"], ":v2.18", NEWER],
  [["--quite-another"], "", NEWER],
])("%j of the official registrar%s", (more, tag, ...expected) => {
  expectSaid(saidOf({ image: `x/csi-node-driver-registrar${tag}`, more }), expected as readonly RegExp[]);
});

describe("the build of kubernetes-csi", () => {
  const K8S = "registry.k8s.io/sig-storage";
  const image = `${K8S}/csi-node-driver-registrar:v2.17.0`;
  const probe = (...command: readonly string[]) => ({ image, livenessProbe: { exec: { command } } });

  test.each(["/bin/sh", "ls"])("has no %s for an exec probe", (program) => {
    expectSaid(saidOf(probe(program)), [
      `^CSI104 problem: has a livenessProbe that runs ${program}, and its image has no other program`,
    ]);
  });

  test.each([
    ["a program on a volume", probe("/csi/check")],
    ["another build", { ...probe("/bin/sh"), image: OFFICIAL }],
  ])("%s is unknown", (_what, changes) => {
    expect(saidOf(changes)).toEqual([]);
  });

  test("another sidecar is not a registrar", () => {
    expectSaid(saidOf({ image: `${K8S}/csi-provisioner:v5.0.1` }), [
      /^CSI101 problem: has the image of another sidecar, registry\.k8s\.io.*csi-provisioner:v5.0.1, /,
    ]);
    for (const other of ["x/csi-provisioner:v5.0.1", `${K8S}/csi-provisioner-x:v5.0.1`])
      expectSaid(saidOf({ image: other }), [/^CSI101 unknown/]);
  });

  const sidecar = (kind: string, registrarImage = image, driver = { name: "driver" }, isBefore = false) => {
    const { spec } = daemonSet({
      ...{ image: registrarImage, more: ["--http-endpoint=:2"], restartPolicy: "Always" },
      [kind]: { httpGet: { path: "/healthz", port: 2 } },
    });
    const { containers, volumes } = spec.template.spec;
    const args = ["--endpoint=/csi/csi.sock"];
    const mounted = { args, ...driver, volumeMounts: [{ name: "plugin", mountPath: "/csi" }] };
    const before = isBefore ? [{ ...mounted, restartPolicy: "Always" }] : [];
    const initContainers = [...before, containers[0]];
    const pod = { initContainers, containers: isBefore ? [{ name: "other" }] : [mounted], volumes };
    return said({ ...daemonSet(), spec: { selector: {}, template: { spec: pod } } });
  };

  test("has no startup probe before the driver's container", () => {
    expectSaid(sidecar("startupProbe"), [/^CSI104 problem: has a startupProbe, and serves nothing until/]);
    expect(sidecar("readinessProbe")).toEqual([]);
    expect(sidecar("startupProbe", "registrar:v1")).toEqual([]);
    expect(sidecar("startupProbe", image, { name: "driver" }, true)).toEqual([]);
  });
});
