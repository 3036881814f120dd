import { type Changes, CSI_DRIVER, daemonSet, PATH, said } from "./one-daemon-set";

const OFFICIAL = "x/csi-node-driver-registrar:v2.17.0";
const http = (more: object) => ({ livenessProbe: { httpGet: { path: "/healthz", port: 2, ...more } } });
const exec = (...words: readonly string[]) => ({ livenessProbe: { exec: { command: words } } });
const TOLD = `--kubelet-registration-path=${PATH}/csi.sock`;
const mode = (word: string) => exec("/registrar", `--mode=${word}`, TOLD);
const EXECUTABLE = "/csi-node-driver-registrar";
/** A change of the pod that leaves its containers alone. */
const onHostNetwork: Changes["pod"] = { hostNetwork: true };

test.each<readonly [what: string, expected: RegExp, Changes]>([
  [
    "the pod's address, and the registrar on localhost",
    /^CSI104 problem: .* asks the pod's address, and the registrar serves localhost only -> write --http-endpoint=:2$/,
    { args: ["--http-endpoint=localhost:2"], container: http({}) },
  ],
  [
    "the node's address, and the registrar on its localhost",
    /^CSI104 problem: .* serves ::1 only -> write --http-endpoint=:2, or host: 127\.0\.0\.1 in the probe$/,
    { args: ["--http-endpoint=[::1]:2"], container: http({}), pod: onHostNetwork },
  ],
  [
    "the node's localhost, and the registrar in a pod",
    /^CSI104 problem: has a livenessProbe that asks 127\.0\.0\.1, which is the node's and not the pod's -> take host off$/,
    { args: ["--http-endpoint=:2"], container: http({ host: "127.0.0.1" }) },
  ],
  [
    "TLS",
    /^CSI104 problem: .* asks with HTTPS, and the registrar serves plain HTTP -> take scheme: HTTPS off$/,
    { args: ["--http-endpoint=:2"], container: http({ scheme: "HTTPS" }) },
  ],
  [
    "gRPC",
    /^CSI104 problem: .* asks with gRPC, and the registrar serves plain HTTP -> use httpGet on \/healthz, port 2$/,
    { args: ["--http-endpoint=:2"], container: { livenessProbe: { grpc: { port: 2 } } } },
  ],
  [
    "gRPC of a registrar that serves nothing",
    /^CSI104 problem: has a readinessProbe on gRPC, and the registrar serves none -> add --http-endpoint=:3, and use httpGet/,
    { container: { readinessProbe: { grpc: { port: 3 } } } },
  ],
  [
    "a TCP port that is not served",
    /^CSI104 problem: has a startupProbe on port 3, and the registrar serves 2/,
    { args: ["--http-endpoint=:2"], container: { startupProbe: { tcpSocket: { port: 3 } } } },
  ],
  [
    "our exec probe, left behind in the official registrar's container",
    /^CSI104 problem: .* --mode=ready-probe, for which the official registrar starts a second one/,
    { container: { ...mode("ready-probe"), image: OFFICIAL } },
  ],
  [
    "the mode that proves nothing",
    /^CSI104 warning: .* --mode=kubelet-registration-probe, which proves nothing/,
    { container: mode("kubelet-registration-probe") },
  ],
  [
    "a misspelt mode",
    /^CSI104 problem: has a livenessProbe that always fails: invalid value \\?"healthprobe\\?" for flag -mode: did you mean health-probe\? -> correct that argument$/,
    { container: mode("healthprobe") },
  ],
  [
    "a misspelt flag of a probe",
    /^CSI104 problem: .* always fails: flag provided but not defined: -csi-adress -> .*did you mean --csi-address\?$/,
    { container: exec(EXECUTABLE, "--mode=ready-probe", "--csi-adress=/x", TOLD) },
  ],
  ...["health-probe", "ready-probe", "kubelet-registration-probe"].map(
    (word): readonly [string, RegExp, Changes] => [
      `${word} without a path`,
      /^CSI104 problem: .* always fails: kubelet-registration-path is a required parameter -> add the container's --kubelet-registration-path to it$/,
      { container: exec(EXECUTABLE, `--mode=${word}`) },
    ],
  ),
  [
    "a probe of another driver",
    /^CSI104 problem: has a livenessProbe that asks about \/other\.sock, and the registrar tells kubelet \/var\/.*\/csi\.sock -> give both the same --kubelet-registration-path$/,
    { container: exec(EXECUTABLE, "--mode=health-probe", "--kubelet-registration-path=/other.sock") },
  ],
  [
    "a probe that looks elsewhere",
    /^CSI104 problem: has a livenessProbe that looks in \/elsewhere, and the registrar's socket is in \/registration -> give both the same --plugin-registration-path$/,
    { container: exec(EXECUTABLE, "--mode=ready-probe", TOLD, "--plugin-registration-path=/elsewhere/") },
  ],
  [
    "a probe that registers",
    /^CSI104 problem: has a livenessProbe that starts a second registrar -> add --mode=health-probe$/,
    { container: exec(EXECUTABLE, TOLD) },
  ],
  [
    "a flag that the official registrar does not have",
    /^CSI104 problem: .* always fails: flag provided but not defined: -require-driver -> take --require-driver out/,
    {
      container: {
        ...exec(EXECUTABLE, "--mode=kubelet-registration-probe", "--require-driver", TOLD),
        image: OFFICIAL,
      },
    },
  ],
  [
    "a mode that the official registrar takes for none",
    /^CSI104 problem: .* --mode=healthprobe, for which the official registrar starts a second one/,
    { container: { ...mode("healthprobe"), image: OFFICIAL } },
  ],
])("%s", (_what, expected, changes) => {
  expect(said(daemonSet(changes), CSI_DRIVER)).toEqual([expect.stringMatching(expected)]);
});

test.each<readonly [what: string, Changes]>([
  [
    "localhost of the node",
    { args: ["--http-endpoint=localhost:2"], container: http({ host: "localhost" }), pod: onHostNetwork },
  ],
  ["a host that may be anything", { args: ["--http-endpoint=:2"], container: http({ host: "10.0.0.1" }) }],
  [
    "a TCP port that is served",
    { args: ["--http-endpoint=:2"], container: { livenessProbe: { tcpSocket: { port: 2 } } } },
  ],
  ["our exec probe", { container: mode("health-probe") }],
  [
    "an exec probe that is filled in from the environment",
    {
      container: {
        ...exec(EXECUTABLE, "--mode=health-probe", "--kubelet-registration-path=$(TOLD)", "--timeout=$(T)"),
        env: [
          { name: "TOLD", value: `${PATH}/csi.sock` },
          { name: "T", valueFrom: { configMapKeyRef: { name: "x", key: "t" } } },
        ],
      },
    },
  ],
  [
    "an exec probe to be filled in",
    { container: exec(EXECUTABLE, "--mode=health-probe", "--kubelet-registration-path={{ .path }}") },
  ],
  [
    "an exec probe of every driver",
    { container: exec(EXECUTABLE, "--mode=health-probe", "--kubelet-registration-path=/x/*/csi.sock") },
  ],
  ["another program's probe", { container: exec("/bin/check", "--mode=healthprobe", "--nope") }],
  ["a probe that prints the version", { container: exec(EXECUTABLE, "--version") }],
])("nothing is said of %s", (_what, changes) => {
  expect(said(daemonSet(changes), CSI_DRIVER)).toEqual([]);
});

test("a flag and a probe of ours, left behind in the official registrar's container, are both told of", () => {
  const container = { ...http({ path: "/readyz" }), image: OFFICIAL };
  const args = ["--http-endpoint=:2", "--require-driver"];
  expect(said(daemonSet({ args, container }), CSI_DRIVER)).toEqual([
    expect.stringMatching(/^CSI101 problem: .*-require-driver/),
    expect.stringMatching(/^CSI104 problem: .*\/readyz/),
  ]);
});

test("what a registrar would serve that does not start is not judged", () => {
  expect(
    said(daemonSet({ args: ["--http-endpoint=:2", "--nope"], container: http({}) }), CSI_DRIVER),
  ).toEqual([expect.stringMatching(/^CSI101 problem/)]);
});
