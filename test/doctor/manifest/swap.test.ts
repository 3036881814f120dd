import { judgeSwap, readSwap } from "../../../src/doctor/manifest/judge/swap";
import { readDeployments } from "../../../src/doctor/manifest/read/deployments";
import { type Changes, daemonSet, expectSaid, OFFICIAL, TOLD } from "./one-daemon-set";

/** What the swap changes in DaemonSets, all of the official image unless another is given. */
function changedIn(...all: readonly Changes[]): readonly string[] {
  const objects = all.map(({ container, ...rest }) => ({
    file: "a.yaml",
    object: daemonSet({ ...rest, container: { image: OFFICIAL, ...container } }),
  }));
  const swap = readSwap((ours) => readDeployments(objects, ours), {});
  return judgeSwap(swap).findings.map(
    ({ code, status, subject, text }) => `${code} ${status}: ${subject.split(",")[0]} ${text}`,
  );
}

const limits = (values: object) => ({ resources: { limits: values } });
const probe = (mode: string) => ({
  livenessProbe: { exec: { command: ["/csi-node-driver-registrar", `--mode=${mode}`, TOLD] } },
});
const onStop = (...command: readonly string[]) => ({ lifecycle: { preStop: { exec: { command } } } });
const K8S = "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0";
const RED_HAT = "registry.redhat.io/openshift4/ose-csi-node-driver-registrar:v4.12";
const SHELL = { command: ["sh", "-c", "exec csi-node-driver-registrar"] };
const WINDOWS = { name: "win", pod: { nodeSelector: { "kubernetes.io/os": "windows" } } };

test.each<readonly [what: string, changes: readonly Changes[], expected: readonly RegExp[]]>([
  ["memory enough for Go", [{ container: limits({ memory: "30Mi" }) }], [/^CSI105 problem: .* of 30Mi/]],
  [
    "CPU that is enough for Go's exec probe",
    [{ container: { ...limits({ cpu: "50m" }), ...probe("kubelet-registration-probe") } }],
    [/^CSI114 problem: .* timeoutSeconds: 1$/],
  ],
  [
    "a probe that proves something before v2.9",
    [{ container: { image: "x/csi-node-driver-registrar:v2.8.0", ...probe("kubelet-registration-probe") } }],
    [/^CSI104 warning: .* which proves nothing$/],
  ],
  [
    "a hook in an image that has a shell",
    [{ container: { image: RED_HAT, ...onStop("/bin/sh", "-c", "rm -f /registration/x-reg.sock") } }],
    [/^CSI106 warning: .* a preStop hook that always fails, because the image has no shell: \/bin\/sh -c rm/],
  ],
  ["a shell", [{ container: { image: RED_HAT, ...SHELL } }], [/^CSI117 problem: .* started by sh,/]],
  [
    "a shell in a copy",
    [{ container: { image: "longhornio/csi-node-driver-registrar:v2.16.0", ...SHELL } }],
    [/^CSI117 problem: .* started by sh,/],
  ],
  [
    "a hook in a copy, whose image may have a shell or not",
    [{ container: onStop("sh", "-c", "rm -f /registration/x-reg.sock") }],
    [/^CSI106 unknown: .* always fails, because the image has no shell/],
  ],
  [
    "FIPS",
    [{ container: { image: "cgr.dev/x/kubernetes-csi-node-driver-registrar-fips:v2.17.0" } }],
    [/^CSI117 warning: .* has an image for FIPS 140/],
  ],
  [
    "an image by digest, and a tag that is no release",
    ["x/csi-node-driver-registrar@sha256:0", "x/csi-node-driver-registrar:latest"].map((image, n) => ({
      name: `n${n}`,
      pod: { nodeSelector: { n: `${n}` } },
      container: { image, ...limits({ memory: "30Mi" }) },
    })),
    [/^CSI105 problem: .*ns\/n0/, /^CSI105 problem: .*ns\/n1/],
  ],
  ["Windows", [{}, WINDOWS], [/^CSI112 warning: a.yaml: DaemonSet ns\/win has the same image/]],
])("%s", (_what, changes, expected) => {
  expectSaid(changedIn(...changes), expected);
});

test.each<readonly [what: string, changes: readonly Changes[]]>([
  ["a healthy DaemonSet", [{}]],
  ["faults that it has already", [{ args: ["--nope"], registry: "/elsewhere", name: "one" }]],
  ["a failing hook", [{ container: { image: K8S, ...onStop("sh", "-c", "rm /registration/x-reg.sock") } }]],
  ["a flag that only this registrar has", [{ args: ["--require-driver"] }]],
  ["an old flag", [{ args: ["--logtostderr"], container: { image: "x/csi-node-driver-registrar:v2.9.0" } }]],
  ["its own image", [{}, { ...WINDOWS, container: { image: "x/csi-node-driver-win-registrar:v2.17.0" } }]],
  ["this registrar", [{}, { name: "y", container: { image: "registrar:v1", ...limits({ memory: "1Mi" }) } }]],
])("nothing about %s", (_what, changes) => {
  expect(changedIn(...changes)).toEqual([]);
});

test("a container that may be the official registrar, or not, is named", () => {
  expectSaid(changedIn({}, { name: "y", container: { image: "x/y:v1" } }), [
    /^CSI101 unknown: a.yaml: DaemonSet ns\/y runs an unknown program: its image x\/y:v1/,
  ]);
});
