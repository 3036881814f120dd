import { LEAST } from "../../../src/manifest/image-policy/changes";
import { type Changes, expectSaid, OFFICIAL, saidOf, TOLD } from "./one-daemon-set";

const command = ["/csi-node-driver-registrar", "--mode=health-probe", TOLD];
/** A container with a CPU limit and probes. */
const limited = (cpu: unknown, probes: object = {}): Changes => ({
  args: ["--http-endpoint=:2"],
  container: { resources: { limits: { cpu } }, ...probes },
});
const exec = (timing: object = {}) => ({ exec: { command }, ...timing });
const http = (timing: object = {}) => ({ httpGet: { path: "/healthz", port: 2 }, ...timing });
const RAISE = "take resources\\.limits\\.cpu off, or set it to 200m at least";

test.each<readonly [expected: string, Changes]>([
  [
    `problem: has a CPU limit of 50m: an exec probe takes 1\\.6 to 3\\.2 s, and the livenessProbe has timeoutSeconds: 1; kubelet restarts the container for ever -> ${RAISE}, or set timeoutSeconds: 10 in the probe`,
    limited("50m", { livenessProbe: exec() }),
  ],
  ["problem: .* startupProbe .* restarts the container", limited("50m", { startupProbe: exec() })],
  ["problem: .* readinessProbe .* the pod never gets ready", limited(0.05, { readinessProbe: exec() })],
  // A longer time does not help: the probe's own call takes too long.
  [
    `problem: has a CPU limit of 20m: .* 4\\.0 to 8\\.0 s, .* timeoutSeconds: 3; .* -> ${RAISE}$`,
    limited("20m", { livenessProbe: exec({ timeoutSeconds: 3 }) }),
  ],
  [
    "problem: has a CPU limit of 10m: .* 8\\.0 to 16\\.0 s, and the livenessProbe has periodSeconds: 5; that leaves the registrar nothing",
    limited("10m", { livenessProbe: exec({ timeoutSeconds: 15, periodSeconds: 5, failureThreshold: 9 }) }),
  ],
  [
    "problem: has a CPU limit of 10m: it starts in 10\\.0 to 25\\.0 s, and the livenessProbe waits 7 s; kubelet restarts",
    limited("10m", {
      livenessProbe: http({ initialDelaySeconds: 2, periodSeconds: 5, failureThreshold: 2 }),
    }),
  ],
  [
    "problem: .* it starts in 10\\.0 to 25\\.0 s, and the startupProbe waits 5 s",
    limited("10m", { livenessProbe: http(), startupProbe: http({ periodSeconds: 5, failureThreshold: 2 }) }),
  ],
  [
    "problem: has a CPU limit of 5m: it starts in 20\\.0 to 50\\.0 s, and the livenessProbe waits 20 s; kubelet restarts",
    limited("5m", { livenessProbe: http() }),
  ],
  [
    `warning: has a CPU limit of 10m: it registers after 10\\.0 to 25\\.0 s, and the livenessProbe waits 20 s: it may be restarted -> ${RAISE}$`,
    limited("10m", { livenessProbe: http() }),
  ],
  [`warning: has a CPU limit of 10m: it registers after 10\\.0 to 25\\.0 s -> ${RAISE}$`, limited("10m")],
  [
    "warning: has a CPU limit of 100m: .* 0\\.8 to 1\\.6 s, .* timeoutSeconds: 1; it may fail -> .* or set timeoutSeconds: 10",
    limited("100m", { livenessProbe: exec() }),
  ],
  [`warning: .* after 2\\.0 to 5\\.1 s -> ${RAISE}$`, limited("49m", { livenessProbe: http() })],
  ["problem: has a CPU limit of many, .* quantity: .* -> write 200m", limited("many", { image: OFFICIAL })],
  ['problem: has a CPU limit of "", which is not a quantity: the API server refuses it', limited("")],
  ['problem: has a CPU limit of " ", which is not a quantity: the API server refuses it', limited(" ")],
  ["warning: .* of 80m: .* 1\\.0 to 2\\.0 s, .* it may fail", limited("80m", { livenessProbe: exec() })],
  [
    "warning: has a CPU limit of 10m: an exec probe takes 8\\.0 to 16\\.0 s, .* timeoutSeconds: 15; it may fail",
    limited("10m", { livenessProbe: exec({ timeoutSeconds: 15, periodSeconds: 8, failureThreshold: 9 }) }),
  ],
  ["problem: has a CPU limit of -1, which is negative: the API server refuses it", limited(-1)],
  ["warning: .* 49m: it registers after", limited("49m", { livenessProbe: exec({ timeoutSeconds: 10 }) })],
])("%s", (expected, changes) => {
  expectSaid(saidOf(changes), [`^CSI114 ${expected}`]);
});

test.each<Changes>([
  // What the image policy raises a limit and a timeout to.
  limited(LEAST.cpu, { livenessProbe: exec({ timeoutSeconds: LEAST.probeTimeoutSeconds }) }),
  limited(LEAST.cpu, { livenessProbe: http() }),
  limited("100m", { livenessProbe: exec({ timeoutSeconds: 2 }) }),
  limited("160m", { livenessProbe: exec() }),
  limited("100m", { livenessProbe: http({ failureThreshold: 1 }) }),
  limited("200m", { livenessProbe: exec(), startupProbe: http({ failureThreshold: 1 }) }),
  // Kubelet asks no liveness probe before the startup probe has succeeded.
  limited("100m", {
    livenessProbe: http({ failureThreshold: 1 }),
    startupProbe: http({ failureThreshold: 30 }),
  }),
  limited("1m", { image: OFFICIAL, livenessProbe: http() }),
  limited("0"),
  limited(undefined, { livenessProbe: exec() }),
  limited("100m", { livenessProbe: { exec: { command: ["/nodejs/bin/node", "-v"] } } }),
])("no fault in %j", (changes) => {
  expect(saidOf(changes)).toEqual([]);
});
