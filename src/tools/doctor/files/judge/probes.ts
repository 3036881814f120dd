import { addedIn } from "../../../recognise/official";
import { isTemplate } from "../../../recognise/rule";
import type { Said } from "../../findings/opened";
import { type ItemOf, withheld, words } from "../../findings/seen";
import { RENDER_FIRST } from "../../findings/words";
import { listensOn, modeIn, type RegistrarSettings, withoutVariables } from "../read/arguments";
import type { BesideFacts, ProbeFacts } from "../read/pod";
import type { RegistrarContainer } from "../read/registrars";
import { judgeProgram, releaseText, sayRefusal } from "./arguments";
import { eachRegistrar, problem, type Statement, unknown, warning } from "./each-registrar";

export const manifestProbes = eachRegistrar("CSI104", "manifest-probes", (one) =>
  one.program.kind === "unknown"
    ? undefined
    : [
        one.probes.map((probe) => (probe.asks === "exec" ? judgeExec : judgePort)(probe, one)),
        one.served.map((http) => one.beside.map((container) => judgeDriversProbe(container, http))),
      ],
);

type Served = ItemOf<RegistrarContainer["served"]>;

const judgePort = (probe: ProbeFacts, one: RegistrarContainer) =>
  one.served.some({
    yes: ({ first }) => judgeAddress(probe, one, first),
    no: () => judgeUnserved(probe, one),
    unknown: withheld,
  });

/** Kubelet asks the pod, where another container may answer. */
function judgeUnserved({ kind, asks, port, path, host }: ProbeFacts, one: RegistrarContainer): Statement {
  const open = [port, host ?? ""].find(isTemplate);
  if (open !== undefined) return unknown(`has a ${kind} that is not filled in: ${open}`, RENDER_FIRST);
  const ownerOf = (asked: string) =>
    one.beside.find(({ ports, declared }) => [...ports, ...declared].includes(asked));
  const owner = ownerOf(port);
  const isFree = Number(port) > 0 && owner === undefined;
  const own = isFree ? Number(port) : USUAL_PORTS.find((free) => ownerOf(`${free}`) === undefined);
  const isServed = isFree && ["HTTP", "TCP"].includes(asks) && servesPath(one, path);
  const since = addedIn("http-endpoint") ?? 0;
  const isOld = one.program.kind === "official" && (one.program.release ?? since) < since;
  const fix = [
    isOld ? `take a release from ${releaseText(since)} on, and ` : "",
    `add --http-endpoint=:${own}`,
    isServed ? "" : `, and use httpGet on /healthz, port ${own}`,
  ].join("");
  if (owner === undefined) return problem(`has a ${kind} on ${asks}, and the registrar serves none`, fix);
  const text = `has a ${kind} on port ${port}, which is container ${owner.name}'s: it tells of that one's faults`;
  return warning(text, fix);
}

const USUAL_PORTS = Array.from({ length: 100 }, (_, n) => 9809 + n);

/** Where the registrar answers to GET. */
const pathsOf = ({ program }: RegistrarContainer, metricsPath: string): readonly string[] =>
  program.kind === "official" ? ["/healthz"] : ["/healthz", "/livez", "/readyz", "/statusz", metricsPath];

const servesPath = (one: RegistrarContainer, path: string | undefined, metricsPath = "/metrics"): boolean =>
  path === undefined || pathsOf(one, metricsPath).includes(path.split("?", 1)[0] ?? "");

function judgeAddress(
  { kind, asks, port, path, host, open }: ProbeFacts,
  one: RegistrarContainer,
  http: Served,
): Said<Statement> {
  if (open !== undefined) return unknown(`has a ${kind} that is not filled in: ${open}`, RENDER_FIRST);
  if (port !== "" && port !== `${http.port}`)
    return /^\d+$/.test(port)
      ? problem(
          `has a ${kind} on port ${port}, and the registrar serves ${http.port}`,
          "use one port for both",
        )
      : problem(
          `has a ${kind} on port ${port}, which its ports do not declare`,
          `add {name: ${port}, containerPort: ${http.port}} to its ports, or write ${http.port}`,
        );
  if (asks !== "HTTP" && asks !== "TCP")
    return problem(
      `has a ${kind} with ${asks}, and the registrar serves plain HTTP`,
      `use httpGet on /healthz, port ${http.port}${asks === "HTTPS" ? ", without scheme: HTTPS" : ""}`,
    );
  if (!servesPath(one, path, http.metricsPath)) {
    const served = pathsOf(one, http.metricsPath);
    return problem(
      `has a ${kind} on ${path}, which it does not serve`,
      `ask ${served.length > 1 ? "one of " : ""}${served.join(", ")}`,
    );
  }
  // Kubelet connects from the node: to the pod's address, unless the probe has a host.
  if (host === undefined && http.on === "local")
    return problem(
      `has a ${kind} that asks the pod's address, and the registrar serves ${http.host} only`,
      `write --http-endpoint=:${http.port}`,
    );
  if (path?.split("?", 1)[0] === "/readyz" && kind !== "readinessProbe")
    return problem(
      words`has a ${kind} on /readyz, which fails until kubelet has registered the driver${one.role.map(
        (role) =>
          kind === "startupProbe" && role === "sidecar"
            ? ": the driver's container starts only when it succeeds"
            : ": kubelet restarts the registrar meanwhile",
      )}`,
      `ask /healthz, and leave /readyz to a readinessProbe`,
    );
  return waitsForDriver(one).and(kind === "startupProbe")({
    yes: () =>
      problem(
        `has a ${kind}, and serves nothing until the driver answers: the driver's container starts only when it succeeds`,
        "remove the startupProbe",
      ),
    no: () => judgeHost(kind, host, one, http),
    unknown: withheld,
  });
}

function judgeHost(
  kind: ProbeFacts["kind"],
  host: string | undefined,
  { isOnNode }: RegistrarContainer,
  http: Served,
): Statement | undefined {
  if (listensOn(host ?? "", []) === "local" && !isOnNode)
    return problem(`has a ${kind} that asks ${host}, which is the node's and not the pod's`, "remove host");
  return host === undefined && http.on === "open"
    ? unknown(
        `has a ${kind} that asks the pod's address, and where the registrar serves cannot be seen here: ${http.host}`,
        `render the file first, or write --http-endpoint=:${http.port}`,
      )
    : undefined;
}

/** The official registrar asks the driver for its name before it serves a port. */
const waitsForDriver = ({ program, role, mayBeDrivers }: RegistrarContainer) =>
  mayBeDrivers
    .contains()
    .and(program.kind === "official")
    .and(role.is((one) => one === "sidecar"));

/** Kubelet would end the driver for what the registrar lacks. */
function judgeDriversProbe(container: BesideFacts, http: Served): Statement | undefined {
  const probe = container.probes.find(
    ({ kind, asks, port }) => kind === "livenessProbe" && asks !== "exec" && port === `${http.port}`,
  );
  const open = container.probes.find((one) => one.kind === "livenessProbe" && one.open !== undefined);
  if (open !== undefined)
    return unknown(
      `serves port ${http.port}, and the livenessProbe of container ${container.name} is not filled in: ${open.open}`,
      RENDER_FIRST,
    );
  if (
    probe === undefined ||
    container.ports.includes(`${probe.port}`) ||
    container.declared.includes(`${probe.port}`)
  )
    return undefined;
  return problem(
    `serves port ${probe.port}, and the livenessProbe of container ${container.name} asks it: kubelet restarts that container for the registrar's faults`,
    `give that probe the port of the driver's own livenessprobe, or remove it`,
  );
}

const OFFICIAL_MODE = "kubelet-registration-probe";
/** From v2.9 on the mode ends with 0 whatever kubelet said. */
const PASSES_SINCE = 209;
const USE_HTTP = "use --http-endpoint and an httpGet on /healthz";

/** Judges a probe that runs the registrar itself; nothing is known of other programs. */
function judgeExec(
  { kind, command, elsewhere, settings: asked }: ProbeFacts,
  one: RegistrarContainer,
): Statement | undefined {
  const open = command.find((word) => isTemplate(withoutVariables(word)));
  if (open !== undefined)
    return unknown(`has a ${kind} whose command is not filled in: ${open}`, RENDER_FIRST);
  const foreign = judgeProgram(one, kind, USE_HTTP);
  if (foreign !== undefined) return foreign;
  const said = asked && judgeAsked(kind, command, asked, one);
  return said && elsewhere !== undefined
    ? unknown(`has a ${kind} that depends on $(${elsewhere}), which is defined elsewhere`, USE_HTTP)
    : said;
}

function judgeAsked(
  kind: ProbeFacts["kind"],
  command: readonly string[],
  asked: RegistrarSettings,
  { program, mounts }: RegistrarContainer,
): Statement | undefined {
  const does = asked.mode;
  const refusal = sayRefusal(asked.start, program);
  const isOfficial = program.kind === "official";
  const mode = modeIn(command);
  const isOtherMode = isOfficial && ![OFFICIAL_MODE, ""].includes(mode) && !isTemplate(mode);
  if (does === "one" || does === "node-wide" || isOtherMode)
    return problem(`has a ${kind} that starts a second registrar`, USE_HTTP);
  if (does === undefined && refusal !== undefined && !isTemplate(refusal.text))
    return problem(`has a ${kind} that always fails: ${refusal.text}`, refusal.advice);
  if (does !== "probe") return undefined;
  // Outside a container the registrar's paths have defaults.
  const isInContainer = isOfficial || mounts.some(({ mountPath }) => mountPath === "/registration");
  if (asked.kubeletRegistrationPath === "" && isInContainer)
    return problem(
      `has a ${kind} that always fails: kubelet-registration-path is a required parameter`,
      "add the container's --kubelet-registration-path to it",
    );
  return mode === OFFICIAL_MODE && (!isOfficial || (program.release ?? 0) >= PASSES_SINCE)
    ? warning(`has a ${kind} with --mode=${mode}, which proves nothing`, USE_HTTP)
    : undefined;
}
