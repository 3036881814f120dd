import { dirname } from "node:path/posix";
import { boundText } from "../../../../logging/escape";
import { isWithin } from "../../../../unix/mounts";
import { addedIn } from "../../../recognise/official";
import type { Verdicts } from "../../findings/finding";
import { asFarAsAsked, mayBeSo } from "../../findings/least";
import {
  doubted,
  type ItemOf,
  ifYes,
  listFrom,
  nothing,
  type Seen,
  type SeenList,
  truth,
  withheld,
  words,
} from "../../findings/seen";
import { RENDER_FIRST } from "../../findings/words";
import { isLoopback } from "../read/arguments";
import { mountOf } from "../read/pod";
import type { BesideFacts, ProbeAddress, ProbeFacts } from "../read/probes";
import type { KnownRegistrar } from "../read/registrars";
import type { ParsedSettings, RegistrarSettings } from "../read/settings";
import { judgeProgram, releaseText, sayRefusal } from "./arguments";
import { eachRegistrar, knownIn, notFilledIn, problem, unknown, warning } from "./each-registrar";
import { placeholderIn } from "./gaps";

export const manifestProbes = eachRegistrar("CSI104", "manifest-probes", (one) =>
  knownIn(one).map((its) => [
    its.probes.map((probe) =>
      probe.address === undefined ? judgeExec(probe, its) : judgePort(probe, probe.address, its),
    ),
    its.served.map((http) => its.beside.flatMap((container) => judgeDriversProbe(container, http))),
  ]),
);

type Served = ItemOf<KnownRegistrar["served"]>;
type Address = ProbeAddress & Pick<ProbeFacts, "kind">;

const judgePort = ({ kind }: ProbeFacts, address: Seen<ProbeAddress>, one: KnownRegistrar) =>
  address({
    seen: (its) =>
      one.served.some({
        yes: ({ first }) => judgeAddress({ kind, ...its }, one, first),
        no: () => judgeUnserved({ kind, ...its }, one),
        unknown: withheld,
      }),
    unread: (gap) => notFilledIn(`has a ${kind} that is`, gap),
  });

/** Kubelet asks the pod, where another container may answer. */
function judgeUnserved({ kind, asks, port, path, host }: Address, one: KnownRegistrar): Verdicts {
  const ownersOf = (asked: string) => asFarAsAsked(one.beside.filter(({ tells }) => tells(asked)));
  const isNumber = Number(port) > 0;
  // Kubelet looks for a port's name in this container alone.
  const mayBeOther = one.beside
    .contains()
    .or(one.isOnNode || host !== undefined)
    .and(isNumber);
  const free = listFrom(USUAL_PORTS).filter((own) => ownersOf(own).contains().not());
  const since = addedIn("http-endpoint") ?? 0;
  const isOld = one.program.kind === "official" ? one.program.release.is((own) => own < since) : truth(false);
  const serve = (ports: SeenList<string>, isServed: boolean) => {
    const own = ports.told("");
    const use = isServed ? "" : words`, and use httpGet on /healthz, port ${own}`;
    const first = ifYes(isOld, () => `take a release from ${releaseText(since)} on, and `).told("");
    return words`${first}add --http-endpoint=:${own}${use}`;
  };
  const isServed = ["HTTP", "TCP"].includes(asks) && isAnswered(path, pathsOf(one, "/metrics"));
  return ownersOf(port).some({
    yes: ({ first }) =>
      warning(
        words`has a ${kind} on port ${port}, which is container ${first.name}'s: it tells of that one's faults`,
        serve(free, false),
      ),
    no: () => {
      const text = `has a ${kind} on ${asks}, and the registrar serves none`;
      const fix = isNumber ? serve(listFrom([port]), isServed) : serve(free, false);
      return mayBeOther({
        yes: () => unknown(`${text}: whether another program serves port ${port} is not known`, fix),
        no: () => problem(text, fix),
        unknown: withheld,
      });
    },
    unknown: ([gap]) =>
      unknown(
        `has a ${kind} on port ${port}, and whether ${gap.subject} serves it is not filled in: ${placeholderIn(gap)}`,
        RENDER_FIRST,
      ),
  });
}

const USUAL_PORTS = Array.from({ length: 100 }, (_, n) => `${9809 + n}`);

/** Where the registrar answers to GET. */
const pathsOf = ({ program }: KnownRegistrar, metricsPath: string): readonly string[] =>
  program.kind === "official" ? ["/healthz"] : ["/healthz", "/livez", "/readyz", "/statusz", metricsPath];

const isAnswered = (path: string | undefined, served: readonly string[]): boolean =>
  path === undefined || served.includes(withoutQuery(path));
const withoutQuery = (path: string) => path.replace(/\?.*/s, "");

function judgeAddress(address: Address, one: KnownRegistrar, http: Served): Verdicts {
  const { kind, asks, port, path } = address;
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
  const judge = () => [judgeHost(address, one, http), judgeStart(address, one)];
  if (isAnswered(path, pathsOf(one, "/healthz"))) return judge();
  return http.metricsPath({
    seen: (metricsPath) => {
      const served = pathsOf(one, metricsPath);
      return isAnswered(path, served)
        ? judge()
        : problem(
            `has a ${kind} on ${path}, which it does not serve`,
            `ask ${served.length > 1 ? "one of " : ""}${served.join(", ")}`,
          );
    },
    unread: (gap) => notFilledIn(`has a ${kind} on ${path}, and whether it serves that is`, gap),
  });
}

/** Kubelet connects from the node: to the pod's address, unless the probe has a host. */
function judgeHost({ kind, host }: Address, { isOnNode }: KnownRegistrar, http: Served) {
  if (host !== undefined)
    return isLoopback(host) && !isOnNode
      ? problem(`has a ${kind} that asks ${host}, which is the node's and not the pod's`, "remove host")
      : undefined;
  const asks = `has a ${kind} that asks the pod's address, and`;
  return http.on({
    seen: (on) =>
      on === "local"
        ? problem(
            words`${asks} the registrar serves ${http.host.map((one) => one)} only`,
            `write --http-endpoint=:${http.port}`,
          )
        : undefined,
    unread: (gap) =>
      unknown(
        `${asks} where the registrar serves cannot be seen here: ${placeholderIn(gap)}`,
        `render the file first, or write --http-endpoint=:${http.port}`,
      ),
  });
}

function judgeStart({ kind, path = "" }: Address, one: KnownRegistrar): Verdicts {
  if (withoutQuery(path) === "/readyz" && kind !== "readinessProbe")
    return problem(
      words`has a ${kind} on /readyz, which fails until kubelet has registered the driver${one.role.map(
        (role) =>
          kind === "startupProbe" && role === "sidecar"
            ? ": the driver's container starts only when it succeeds"
            : ": kubelet restarts the registrar meanwhile",
      )}`,
      `ask /healthz, and leave /readyz to a readinessProbe`,
    );
  return ifYes(waitsForDriver(one).and(kind === "startupProbe"), () =>
    problem(
      `has a ${kind}, and serves nothing until the driver answers: the driver's container starts only when it succeeds`,
      "remove the startupProbe",
    ),
  );
}

/** The official registrar asks the driver for its name before it serves a port. */
const waitsForDriver = ({ program, role, mayBeDrivers }: KnownRegistrar) =>
  mayBeDrivers
    .contains()
    .and(mayBeDrivers.contains(({ isEarlier }) => isEarlier).not())
    .and(program.kind === "official")
    .and(role.is((one) => one === "sidecar"));

export const OTHER_PORT = "give one of them another port, and its probes too";

/** Kubelet would end the driver for what the registrar lacks. */
function judgeDriversProbe(beside: BesideFacts, http: Served): Verdicts {
  const { name, probes, runs, tells, mentions } = beside;
  const served = `${http.port}`;
  const fault = () =>
    problem(
      words`serves port ${served}, and the livenessProbe of container ${name} asks it: kubelet restarts that container for the registrar's faults`,
      `give that probe the port of the driver's own livenessprobe, or remove it`,
    );
  const itself = words`serves port ${served}, and the livenessProbe of container ${name} asks it: whether that container serves it itself is not`;
  const say = () =>
    mentions(served).some({
      yes: ({ first }) => unknown(words`${itself} known: it has ${boundText(first)}`, OTHER_PORT),
      no: fault,
      unknown: ([gap]) => unknown(words`${itself} filled in: ${placeholderIn(gap)}`, RENDER_FIRST),
    });
  const judge = () => runs.say({ yes: say, no: nothing, unknown: () => doubted(fault()) });
  return probes
    .filter(({ kind }) => kind === "livenessProbe")
    .map(({ address }) =>
      address?.({
        seen: ({ port }) => (port === served ? ifYes(mayBeSo(tells(served).not()), judge) : undefined),
        unread: (gap) =>
          notFilledIn(words`serves port ${served}, and the livenessProbe of container ${name} is`, gap),
      }),
    );
}

const OFFICIAL_MODE = "kubelet-registration-probe";
const HEALTH_MODE = "health-probe";
/** From v2.9 on the mode ends with 0 whatever kubelet said. */
const PASSES_SINCE = 209;
const USE_HTTP = "use --http-endpoint and an httpGet on /healthz";

interface AskedSettings extends RegistrarSettings {
  readonly modeFlag: string;
}

/** Judges a probe that runs the registrar itself; nothing is known of other programs. */
const judgeExec = ({ kind, settings }: ProbeFacts, one: KnownRegistrar) =>
  settings({
    seen: (asked) =>
      judgeProgram(one, kind, USE_HTTP).some({
        yes: (all) => all,
        no: () => asked && judgeAsked(kind, asked, one),
        unknown: withheld,
      }),
    unread: (gap) => {
      const { why } = gap;
      const at = placeholderIn(gap);
      return why.kind === "flaw" && why.flaw === "elsewhere"
        ? unknown(`has a ${kind} that depends on $(${at}), which is defined elsewhere`, USE_HTTP)
        : unknown(`has a ${kind} whose command is not filled in: ${at}`, RENDER_FIRST);
    },
  });

function judgeAsked(
  kind: ProbeFacts["kind"],
  { modeFlag, start, isParsed, parsed }: AskedSettings,
  one: KnownRegistrar,
): Verdicts {
  const { program } = one;
  const isOtherMode = program.kind === "official" && ![OFFICIAL_MODE, ""].includes(modeFlag);
  const second = () => problem(`has a ${kind} that starts a second registrar`, USE_HTTP);
  if (isOtherMode) return second();
  return [
    parsed.map((its) =>
      its.mode.map((does) => {
        if (does === "probe") return judgeAskedProbe(kind, modeFlag, its, one);
        return does === "print" ? undefined : second();
      }),
    ),
    // What it cannot parse, or is refused, has no mode.
    ifYes(isParsed.and(program.kind === "ours").not(), () =>
      start.map((its) => {
        const refusal = its.kind === "help" ? undefined : sayRefusal(its, program);
        return refusal && problem(`has a ${kind} that always fails: ${refusal.text}`, refusal.advice);
      }),
    ),
  ];
}

function judgeAskedProbe(
  kind: ProbeFacts["kind"],
  mode: string,
  { hasKubeletPath, paths }: ParsedSettings,
  one: KnownRegistrar,
): Verdicts {
  const { program, mounts } = one;
  // Outside a container the registrar's paths have defaults.
  const isInContainer =
    program.kind === "official" || mounts.some(({ mountPath }) => mountPath === "/registration");
  const judge = () => judgeMode(kind, mode, paths, one);
  return hasKubeletPath.or(!isInContainer).say({
    yes: judge,
    no: () =>
      problem(
        `has a ${kind} that always fails: kubelet-registration-path is a required parameter`,
        "add the container's --kubelet-registration-path to it",
      ),
    unknown: withheld,
  });
}

function judgeMode(
  kind: ProbeFacts["kind"],
  mode: string,
  paths: ParsedSettings["paths"],
  one: KnownRegistrar,
): Verdicts {
  const { program } = one;
  if (mode === HEALTH_MODE) return paths.map(({ csiAddress }) => judgeDriverAsked(kind, csiAddress, one));
  if (mode !== OFFICIAL_MODE) return undefined;
  const text = `has a ${kind} with --mode=${mode}, which proves nothing`;
  const passes = program.kind === "official" ? program.release.is((own) => own >= PASSES_SINCE) : truth(true);
  return passes({
    yes: () => warning(text, USE_HTTP),
    no: () => paths.map(({ told }) => judgeFile(kind, dirname(told), one)),
    unknown: () =>
      unknown(`${text} from v2.9 on, and always fails before v2.3: its release is not known`, USE_HTTP),
  });
}

/** Without a driver that answers there can be no registration yet: the probe passes. */
const judgeDriverAsked = (kind: ProbeFacts["kind"], asked: string, { usable }: KnownRegistrar): Verdicts =>
  usable.map(({ paths }) =>
    paths.map(({ csiAddress }) =>
      csiAddress === asked
        ? undefined
        : problem(
            `has a ${kind} that asks the driver at ${asked}, and its registrar has ${csiAddress}: with no driver there the probe always passes`,
            `add --csi-address=${csiAddress} to it`,
          ),
    ),
  );

/** Up to v2.8 the registrar makes a file when kubelet calls it, and the probe looks for that. */
function judgeFile(kind: ProbeFacts["kind"], directory: string, one: KnownRegistrar): Verdicts {
  const { user, mounts, makesDirectories } = one;
  const mount = mountOf(directory, mounts);
  const say = (why: string) =>
    problem(
      `has a ${kind} that always fails: the registrar must make a file in ${directory} of its container, and ${why}`,
      `${USE_HTTP}; or mount the driver's directory there`,
    );
  if (mount) return mount.isReadOnly ? say(`${mount.mountPath} is mounted read-only`) : undefined;
  if (user.hasReadOnlyRoot) return say("its root file system is read-only");
  return makesDirectories.or(mounts.some(({ mountPath }) => isWithin(mountPath, directory))).say({
    yes: nothing,
    no: () => say("v2.6.0 and v2.6.1 do not make it"),
    unknown: withheld,
  });
}
