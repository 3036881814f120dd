import { askOfficial, officialFlags } from "../../../../src/tools/doctor/files/read/official";
import { daemonSet, expectSaid, OFFICIAL, said, saidOf } from "./one-daemon-set";

test("v2.17 has the flags that its --help prints", () => {
  const help = `automaxprocs connection-timeout csi-address enable-pprof health-port http-endpoint
    kubelet-registration-path log-flush-frequency log-json-info-buffer-size log-json-split-stream
    log-text-info-buffer-size log-text-split-stream logging-format mode plugin-registration-path timeout v version
    vmodule`;
  expect([...officialFlags().keys()].sort()).toEqual(help.split(/\s+/));
});

test.each([
  [["--on-registration-failure=retry"], 217, /-on-registration-failure -> take .* out, or take this/],
  [["--logtostderr"], 217, /-logtostderr -> take/],
  [["--kubeconfig=/x"], 101, /-kubeconfig -> take/],
  [["--automaxprocs"], 213, /-automaxprocs -> take --automaxprocs out, or take a release from v2\.14 on$/],
  [["--timeout=1s"], 103, /-timeout -> .*v2\.1 on$/],
  [["--csi-adress=/x"], 217, /-csi-adress -> .*did you mean --csi-address\?$/],
  [["--constructor=1"], 217, /-constructor -> correct that argument$/],
  [["--quite-another"], 217, /-quite-another -> correct that argument$/],
  [["--require-driver"], 218, /-require-driver -> take --require-driver out, or take this registrar's image/],
  [
    ["--require-driver", "--v=2", "--allow-drivers=x", "--require-driver", "--node-name=y"],
    217,
    /-> take --require-driver, --allow-drivers and --node-name out, .* does not have these flags$/,
  ],
  [["--timeout=1"], undefined, /^invalid value "1" for flag -timeout: .* -> correct/],
  [["--v=5", "--log-text-split-stream"], 217, /-log-text-split-stream needs the feature .* -> take/],
  [["--log-json-info-buffer-size=1Ki"], undefined, /needs the feature LoggingAlphaOptions/],
] as const)("%j ends the official registrar %s", (words, release, expected) => {
  const answer = askOfficial(words, release);
  expect(answer.kind === "refused" && `${answer.problem} -> ${answer.advice}`).toMatch(expected);
});

test.each([
  [["--logtostderr", "--stderrthreshold=INFO"], 210],
  [["--automaxprocs"], 214],
  [["--kubeconfig=/x"], 100],
  [["--automaxprocs", "--mode=healthz"], undefined],
  [["--log-text-split-stream=false", "--log-text-info-buffer-size=0"], 217],
  [["--help"], 217],
] as const)("%j does not end %s", (words, release) => {
  expect(askOfficial(words, release)).toEqual({ kind: "starts" });
});

test("whether klog's flags end it depends on a release that is not known", () => {
  expect(askOfficial(["--logtostderr"], undefined)).toMatchObject({
    kind: "unclear",
    why: expect.stringContaining("before v2.11 only"),
  });
});

test.each([218, undefined])(
  "a flag that is in no release up to v2.17 may be in a newer one: %s",
  (release) => {
    const why =
      "has --quite-another, which the official registrar does not have up to v2.17, and a newer one may have";
    expect(askOfficial(["--quite-another"], release)).toMatchObject({ kind: "unclear", why });
  },
);

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
      /^CSI101 problem: has the image of another sidecar, csi-provisioner, /,
    ]);
    expectSaid(saidOf({ image: "x/csi-provisioner:v5.0.1" }), [/^CSI101 unknown/]);
  });

  const sidecar = (kind: string, registrarImage = image, driver = { name: "driver" }, isBefore = false) => {
    const { spec } = daemonSet({
      ...{ image: registrarImage, more: ["--http-endpoint=:2"], restartPolicy: "Always" },
      [kind]: { httpGet: { path: "/healthz", port: 2 } },
    });
    const { containers, volumes } = spec.template.spec;
    const mounted = { ...driver, volumeMounts: [{ name: "plugin", mountPath: "/csi" }] };
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
