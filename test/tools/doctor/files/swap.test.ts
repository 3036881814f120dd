import {
  type Changes,
  daemonSet,
  expectSaid,
  findingsOfSwapIn,
  limits,
  OFFICIAL,
  TOLD,
  WINDOWS,
} from "./one-daemon-set";

/** What the swap changes in DaemonSets, all of the official image unless another is given. */
function changedIn(...all: readonly Changes[]): readonly string[] {
  const objects = all.map((changes) => daemonSet({ image: OFFICIAL, ...changes }));
  return findingsOfSwapIn(objects).map(
    ({ code, status, subject, text }) => `${code} ${status}: ${subject.split(",")[0]} ${text}`,
  );
}

const probe = (mode: string) => ({
  livenessProbe: { exec: { command: ["/csi-node-driver-registrar", `--mode=${mode}`, TOLD] } },
});
const K8S = "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0";

const ALPINE = "quay.io/k8scsi/csi-node-driver-registrar:v1.0.2";

const OLD_PROBE = probe("kubelet-registration-probe");
const LITTLE = limits({ memory: "30Mi" });
const WIN_REGISTRAR = "x/csi-node-driver-win-registrar:v2.17.0";
const LITTLE_MEMORY = /^CSI105 problem: .* of 30Mi/;

test.each<[what: string, changes: readonly Changes[], expected?: RegExp]>([
  ["memory enough for Go", [LITTLE], LITTLE_MEMORY],
  ["CPU that is enough for Go", [limits({ cpu: "40m" })], /^CSI114 warning: .* with less than 50m/],
  [
    "a probe in time for Go",
    [{ ...limits({ cpu: "79m" }), ...OLD_PROBE }],
    /^CSI114 problem: .* its livenessProbe takes about 1.01 s, /,
  ],
  [
    "a probe that proves something before v2.9",
    [{ image: "x/csi-node-driver-registrar:v2.8.0", ...OLD_PROBE }],
    /^CSI104 warning: .* which proves nothing$/,
  ],
  ["a digest", [{ image: `${K8S}@sha256:0`, ...LITTLE }], LITTLE_MEMORY],
  ["no release", [{ image: "x/csi-node-driver-registrar:latest", ...LITTLE }], LITTLE_MEMORY],
  [
    "its image on Windows",
    [{}, { ...WINDOWS, name: "win" }],
    /^CSI112 warning: a.yaml: DaemonSet ns\/win has the same image/,
  ],
  [
    "an unknown program beside it",
    [{}, { name: "y", image: "x/y:v1" }],
    /^CSI101 unknown: a.yaml: DaemonSet ns\/y runs an unknown program: its image x\/y:v1/,
  ],
  // Nor has the official image a shell: it is no new problem, and told all the same.
  [
    "a shell that starts it",
    [{ image: K8S, command: ["/bin/sh", "-c", `exec /csi-node-driver-registrar ${TOLD}`] }],
    /^CSI101 problem: .* runs \/bin\/sh, and this registrar's image has no other program$/,
  ],
  [
    "a probe by a shell",
    [{ image: K8S, livenessProbe: { exec: { command: ["sh", "-c", "true"] } } }],
    /^CSI104 problem: .* runs sh, and this registrar's image has no other program$/,
  ],
  [
    "a hook with the shell of v1.0",
    [{ image: ALPINE, lifecycle: { preStop: { exec: { command: ["/bin/sh", "-c", "rm /csi/x"] } } } }],
    /^CSI101 warning: .* has a preStop hook that runs \/bin\/sh, and this registrar's image has no other program$/,
  ],
  // GoogleCloudPlatform/gcs-fuse-csi-driver has it among its tests.
  [
    "GKE's copy",
    [{ image: "gcr.io/gke-release/csi-driver-registrar:v1.0.1-gke.0", ...LITTLE }],
    LITTLE_MEMORY,
  ],
  ["a healthy DaemonSet", [{}]],
  ["faults that it has already", [{ more: ["--nope"], registry: "/elsewhere", name: "one" }]],
  ["a flag that only this registrar has", [{ more: ["--require-driver"] }]],
  ["an old flag", [{ more: ["--logtostderr"], image: "x/csi-node-driver-registrar:v2.9.0" }]],
  ["another image on Windows", [{}, { ...WINDOWS, name: "win", image: WIN_REGISTRAR }]],
  ["this registrar", [{}, { name: "y", image: "registrar:v1", ...limits({ memory: "1Mi" }) }]],
])("%s", (_what, changes, ...expected) => {
  expectSaid(changedIn(...changes), expected as readonly RegExp[]);
});

test.each([
  [K8S, ""],
  [OFFICIAL, ", or keep the official image there"],
])("the fix of a shell that starts %s%s", (image, more) => {
  const fix = `leave the command out, and write each argument as an item of args${more}`;
  const object = daemonSet({ image, command: ["/bin/sh", "-c", `exec /csi-node-driver-registrar ${TOLD}`] });
  expect(findingsOfSwapIn([object])).toEqual([expect.objectContaining({ code: "CSI101", fix })]);
});
