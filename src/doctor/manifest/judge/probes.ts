import { isPattern } from "../../../host-path/path-pattern";
import { isTemplate } from "../../findings/words";
import { placeInChart } from "../read/charts";
import type { Deployment } from "../read/deployments";
import { onHost } from "../read/mounts";
import type { ProbeFacts } from "../read/probes";
import { flagIn } from "../read/start";
import { eachDeployment, problem, type Statement, warning } from "./each-deployment";

const OFFICIAL_PATHS = ["/healthz"];
const OUR_PATHS = ["/healthz", "/livez", "/readyz", "/statusz"];

const LOCALHOST = /^(?:localhost|127(?:\.\d+){3}|::1|\[::1\])$/i;

export const manifestProbes = eachDeployment("CSI104", "manifest-probes", (one) =>
  one.program.kind === "unknown"
    ? undefined
    : one.probes.flatMap(
        (probe) => (probe.asks === "exec" ? judgeExecProbe : judgePortProbe)(probe, one) ?? [],
      ),
);

function judgePortProbe(probe: ProbeFacts, deployment: Deployment): Statement | undefined {
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
  const path = probe.path?.split("?", 1)[0];
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
  if (host === undefined && LOCALHOST.test(served ?? ""))
    return problem(
      `has a ${kind} that asks the pod's address, and the registrar serves ${served} only`,
      `write --http-endpoint=:${port}${source.pod.hostNetwork === true ? ", or host: 127.0.0.1 in the probe" : ""}`,
    );
  if (LOCALHOST.test(host ?? "") && source.pod.hostNetwork !== true)
    return problem(`has a ${kind} that asks ${host}, which is the node's and not the pod's`, "take host off");
  return undefined;
}

const OFFICIAL_MODE = "kubelet-registration-probe";
/** From v2.9 on the mode ends with 0 whatever kubelet said. */
const PASSES_SINCE = 209;

/** Judges a probe that runs the registrar itself; nothing is known of other programs. */
function judgeExecProbe(probe: ProbeFacts, deployment: Deployment): Statement | undefined {
  const { kind, command, settings } = probe;
  const { program } = deployment;
  const isOfficial = program.kind === "official";
  const mode = flagIn(command, "mode");
  const isSecond = isOfficial && mode !== undefined && mode !== OFFICIAL_MODE && !isTemplate(mode);
  if (settings !== undefined && isSecond)
    return problem(
      `has a ${kind} with --mode=${mode}, for which the official registrar starts a second one`,
      "use --http-endpoint and an httpGet on /healthz, or this registrar's image",
    );
  const failure = settings && judgeWords(kind, settings, deployment, mode !== OFFICIAL_MODE);
  const passes = !isOfficial || (program.release ?? 0) >= PASSES_SINCE;
  if (failure !== undefined || mode !== OFFICIAL_MODE || !passes) return failure;
  return warning(
    `has a ${kind} with --mode=${mode}, which proves nothing`,
    `use --http-endpoint and an httpGet on /healthz${isOfficial ? "" : ", or --mode=health-probe"}`,
  );
}

type Settings = Deployment["settings"];

function judgeWords(kind: string, asked: Settings, deployment: Deployment, asksForPaths: boolean) {
  const { mounts } = deployment;
  const isOfficial = deployment.program.kind === "official";
  const { refusal, task } = asked;
  if (task === undefined && refusal !== undefined && !isTemplate(refusal.problem))
    return problem(`has a ${kind} that always fails: ${refusal.problem}`, refusal.advice);
  if (task === "register")
    return problem(
      `has a ${kind} that starts a second registrar`,
      isOfficial ? "use --http-endpoint and an httpGet on /healthz" : "add --mode=health-probe",
    );
  if (task !== "probe") return undefined;
  // Outside a container the registrar's paths have defaults.
  const isInContainer = isOfficial || mounts.some(({ mountPath }) => mountPath === "/registration");
  if (asked.kubeletRegistrationPath === "" && isInContainer)
    return problem(
      `has a ${kind} that always fails: kubelet-registration-path is a required parameter`,
      "add the container's --kubelet-registration-path to it",
    );
  return asksForPaths ? judgePaths(kind, asked, deployment) : undefined;
}

/** A probe with other paths than the container's asks about another driver, or none. */
function judgePaths(kind: string, asked: Settings, deployment: Deployment): Statement | undefined {
  const { unseen, mounts, settings: own } = deployment;
  if (unseen !== undefined || own.refusal !== undefined || asked.refusal !== undefined) return undefined;
  const paths = [asked.kubeletRegistrationPath, own.kubeletRegistrationPath];
  const isKnown = paths.every((path) => path !== "" && !isTemplate(path) && !isPattern(path));
  if (isKnown && paths[0] !== paths[1])
    return problem(
      `has a ${kind} that asks about ${paths[0]}, and the registrar tells kubelet ${paths[1]}`,
      "give both the same --kubelet-registration-path",
    );
  const directories = [asked.pluginRegistrationPath, own.pluginRegistrationPath];
  const [directory, ownDirectory] = directories.map((path) => onHost(path, mounts) ?? path);
  return directory !== ownDirectory && !directories.some(isTemplate)
    ? problem(
        `has a ${kind} that looks in ${directories[0]}, and the registrar's socket is in ${directories[1]}`,
        "give both the same --plugin-registration-path",
      )
    : undefined;
}
