import { type Deployment, isTemplate, type ManifestFacts, type ProbeFacts } from "../deployment";
import { type Check, problem, type Verdict, warning } from "../finding";

const OFFICIAL_PATHS = ["/healthz"];
const OUR_PATHS = ["/healthz", "/livez", "/readyz", "/statusz"];

export const manifestProbes: Check<ManifestFacts> = {
  code: "CSI104",
  name: "manifest-probes",
  asks: "Whether the probes of the registrar's container ask for something that is served.",
  matters:
    "A liveness probe without an answer restarts the container for ever; a readiness probe holds up the rollout.",
  fix:
    "Give `--http-endpoint=:PORT` with the port of the probe, and a path that the registrar has. " +
    "A port that the probe names must be among the container's `ports`.",
  verdicts: ({ deployments }) => deployments.flatMap((one) => one.probes.map((probe) => judge(probe, one))),
};

function judge(probe: ProbeFacts, { place, settings, isOfficial }: Deployment): Verdict | undefined {
  if (probe.command?.some((word) => /^--?mode=kubelet-registration-probe$/.test(word)))
    return warning(
      place,
      `has a ${probe.kind} with --mode=kubelet-registration-probe, which proves nothing`,
      "use --http-endpoint and an httpGet on /healthz, or --mode=health-probe",
    );
  if (probe.httpPath === undefined) return undefined;
  if (settings.httpPort === undefined)
    return problem(
      place,
      `has a ${probe.kind} on HTTP, and the registrar serves none`,
      `add --http-endpoint=:${probe.httpPort ?? 9809}`,
    );
  if (probe.httpPort !== undefined && probe.httpPort !== settings.httpPort)
    return problem(
      place,
      `has a ${probe.kind} on port ${probe.httpPort}, and the registrar serves ${settings.httpPort}`,
      "use one port for both",
    );
  if (probe.unknownPort !== undefined && !isTemplate(probe.unknownPort))
    return problem(
      place,
      `has a ${probe.kind} on the port ${probe.unknownPort}, and no port of the container is called so`,
      `add to its ports: {name: ${probe.unknownPort}, containerPort: ${settings.httpPort}}`,
    );
  const served = isOfficial ? OFFICIAL_PATHS : [...OUR_PATHS, settings.metricsPath];
  const path = probe.httpPath.replace(/\?.*$/, "");
  return served.includes(path)
    ? undefined
    : problem(
        place,
        `has a ${probe.kind} on ${path}, which it does not serve`,
        `ask one of ${served.join(", ")}`,
      );
}
