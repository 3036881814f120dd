import { type Changes, CSI_DRIVER, daemonSet, said } from "./one-daemon-set";

const OFFICIAL = "x/csi-node-driver-registrar:v2.17.0";
const http = (more: object) => ({ livenessProbe: { httpGet: { path: "/healthz", port: 2, ...more } } });
const mode = (word: string) => ({ livenessProbe: { exec: { command: ["/registrar", `--mode=${word}`] } } });
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
