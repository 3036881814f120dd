import { isTemplate } from "../../rules/words";
import { placeInChart } from "../read/charts";
import type { Deployment } from "../read/deployments";
import type { ProbeFacts } from "../read/probes";
import { eachDeployment, problem, type Statement } from "./each-deployment";
import { judgeExecProbe } from "./exec-probes";

const OFFICIAL_PATHS = ["/healthz"];
const OUR_PATHS = ["/healthz", "/livez", "/readyz", "/statusz"];

const LOCALHOST = /^(?:localhost|127(?:\.\d+){3}|::1|\[::1\])$/i;

export const manifestProbes = eachDeployment("CSI104", "manifest-probes", (one) =>
  one.program.kind === "unknown"
    ? undefined
    : one.probes.flatMap((probe) => (probe.asks === "exec" ? judgeExecProbe : judge)(probe, one) ?? []),
);

function judge(probe: ProbeFacts, deployment: Deployment): Statement | undefined {
  const { unseen, settings, program } = deployment;
  const { kind, asks, port, unknownPort } = probe;
  const { http } = settings;
  const isPlain = asks === "HTTP" || asks === "TCP";
  if (http === undefined) {
    // What a registrar serves is unknown if it does not start, or another program starts it.
    if (settings.refusal !== undefined || unseen !== undefined || settings.kubeletRegistrationPath === "")
      return undefined;
    const place = placeInChart(deployment.chart, "arguments");
    return problem(
      `has a ${kind} on ${asks}, and the registrar serves none`,
      `add --http-endpoint=:${port ?? 9809}${isPlain ? "" : ", and use httpGet on /healthz"}${place}`,
    );
  }
  if (port !== undefined && port !== http.port)
    return problem(
      `has a ${kind} on port ${port}, and the registrar serves ${http.port}`,
      "use one port for both",
    );
  if (unknownPort !== undefined && !isTemplate(unknownPort))
    return problem(
      `has a ${kind} on the port ${unknownPort}, and no port of the container is called so`,
      `add to its ports: {name: ${unknownPort}, containerPort: ${http.port}}`,
    );
  if (!isPlain)
    return problem(
      `has a ${kind} that asks with ${asks}, and the registrar serves plain HTTP`,
      asks === "gRPC" ? `use httpGet on /healthz, port ${http.port}` : "take scheme: HTTPS off",
    );
  const served = program.kind === "official" ? OFFICIAL_PATHS : [...OUR_PATHS, settings.metricsPath];
  const path = probe.path?.replace(/\?.*$/, "");
  if (path !== undefined && !served.includes(path))
    return problem(`has a ${kind} on ${path}, which it does not serve`, `ask one of ${served.join(", ")}`);
  return judgeHost(probe, http, deployment);
}

/** Kubelet connects from the node: to the pod's address, unless the probe has a host. */
function judgeHost(
  { kind, host }: ProbeFacts,
  { host: served, port }: NonNullable<Deployment["settings"]["http"]>,
  { source }: Deployment,
): Statement | undefined {
  if (host === undefined && served !== undefined && LOCALHOST.test(served))
    return problem(
      `has a ${kind} that asks the pod's address, and the registrar serves ${served} only`,
      `write --http-endpoint=:${port}${source.pod.hostNetwork === true ? ", or host: 127.0.0.1 in the probe" : ""}`,
    );
  if (host !== undefined && LOCALHOST.test(host) && source.pod.hostNetwork !== true)
    return problem(`has a ${kind} that asks ${host}, which is the node's and not the pod's`, "take host off");
  return undefined;
}
