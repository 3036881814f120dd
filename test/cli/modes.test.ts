import { parseFlags } from "../../src/cli/flags";

test.each(["", "constructor", "registration", "node-register", "kubelet", "normal", "probes-are-off"])(
  "the mode %j is a normal run, as it is to the official",
  (mode) => {
    expect(parseFlags([`--mode=${mode}`])).toMatchObject({ kind: "flags", flags: { mode } });
  },
);

test.each([
  ["helth-probe", "did you mean health-probe?"],
  ["HEALTH_PROBE", "did you mean health-probe?"],
  ["readyprobe", "did you mean ready-probe?"],
  ["ready", "did you mean ready-probe?"],
  ["Readyz", "did you mean ready-probe?"],
  ["readiness", "did you mean ready-probe?"],
  ["health", "did you mean health-probe?"],
  ["healthz", "did you mean health-probe?"],
  ["LIVENESS", "did you mean health-probe?"],
  ["kubelet-registraton-probe", "did you mean kubelet-registration-probe?"],
  ["livenessProbe", "the probes are health-probe, ready-probe, kubelet-registration-probe"],
  ["probe", "the probes are health-probe, ready-probe, kubelet-registration-probe"],
])("the mode %s, meant as a probe, is no normal run: %s", (mode, why) => {
  expect(parseFlags([`--mode=${mode}`])).toEqual({
    kind: "error",
    message: `invalid value "${mode}" for flag -mode: ${why}`,
  });
});
