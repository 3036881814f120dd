import { type Check, problem, type Verdict } from "../../findings/finding";
import { isTemplate } from "../../rules/objects";
import type { Deployment, ManifestFacts, ProbeFacts } from "../deployment";
import { judgeExecProbe } from "./exec-probes";

const OFFICIAL_PATHS = ["/healthz"];
const OUR_PATHS = ["/healthz", "/livez", "/readyz", "/statusz"];

const LOCALHOST = /^(?:localhost|127(?:\.\d+){3}|::1|\[::1\])$/i;

export const manifestProbes: Check<ManifestFacts> = {
  code: "CSI104",
  name: "manifest-probes",
  verdicts: ({ deployments }) => deployments.flatMap((one) => one.probes.map((probe) => judge(probe, one))),
};

function judge(probe: ProbeFacts, deployment: Deployment): Verdict | undefined {
  if (probe.asks === "exec") return judgeExecProbe(probe, deployment);
  const { place, unseen, settings, isOfficial } = deployment;
  const { http } = settings;
  const isPlain = probe.asks === "HTTP" || probe.asks === "TCP";
  if (http === undefined) {
    // What a registrar serves is unknown if it does not start, or another program starts it.
    if (settings.refusal !== undefined || unseen !== undefined || settings.kubeletRegistrationPath === "")
      return undefined;
    return problem(
      place,
      `has a ${probe.kind} on ${probe.asks}, and the registrar serves none`,
      `add --http-endpoint=:${probe.port ?? 9809}${isPlain ? "" : ", and use httpGet on /healthz"}`,
    );
  }
  if (probe.port !== undefined && probe.port !== http.port)
    return problem(
      place,
      `has a ${probe.kind} on port ${probe.port}, and the registrar serves ${http.port}`,
      "use one port for both",
    );
  if (probe.unknownPort !== undefined && !isTemplate(probe.unknownPort))
    return problem(
      place,
      `has a ${probe.kind} on the port ${probe.unknownPort}, and no port of the container is called so`,
      `add to its ports: {name: ${probe.unknownPort}, containerPort: ${http.port}}`,
    );
  if (!isPlain)
    return problem(
      place,
      `has a ${probe.kind} that asks with ${probe.asks}, and the registrar serves plain HTTP`,
      probe.asks === "gRPC" ? `use httpGet on /healthz, port ${http.port}` : "take scheme: HTTPS off",
    );
  const served = isOfficial ? OFFICIAL_PATHS : [...OUR_PATHS, settings.metricsPath];
  const path = probe.path?.replace(/\?.*$/, "");
  if (path !== undefined && !served.includes(path))
    return problem(
      place,
      `has a ${probe.kind} on ${path}, which it does not serve`,
      `ask one of ${served.join(", ")}`,
    );
  return judgeHost(probe, deployment);
}

/** Kubelet asks from the node: the pod's address, unless the probe has a host. */
function judgeHost(
  { kind, host }: ProbeFacts,
  { place, settings, hostNetwork }: Deployment,
): Verdict | undefined {
  const { host: served, port } = settings.http ?? {};
  if (host === undefined)
    return served !== undefined && LOCALHOST.test(served)
      ? problem(
          place,
          `has a ${kind} that asks the pod's address, and the registrar serves ${served} only`,
          `write --http-endpoint=:${port}${hostNetwork ? ", or host: 127.0.0.1 in the probe" : ""}`,
        )
      : undefined;
  return LOCALHOST.test(host) && !hostNetwork
    ? problem(
        place,
        `has a ${kind} that asks ${host}, which is the node's and not the pod's`,
        "take host off",
      )
    : undefined;
}
