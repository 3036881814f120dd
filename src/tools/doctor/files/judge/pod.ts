import { type Decided, isTemplate } from "../../../recognise/rule";
import type { Said } from "../../findings/opened";
import { type Gap, type ItemOf, nothing, type Seen, type SeenList, withheld } from "../../findings/seen";
import { RENDER_FIRST, together } from "../../findings/words";
import { withoutVariables } from "../read/arguments";
import type { RegistrarContainer } from "../read/registrars";
import { eachRegistrar, problem, type Statement, unknown, warning } from "./each-registrar";
import { unfilledIn } from "./gaps";

const manifestSurge = eachRegistrar("CSI107", "manifest-surge", (one) => {
  const { type, maxSurge, maxUnavailable } = one.update;
  const say = (text: string, fix: string) =>
    type({
      seen: () => problem(text, fix),
      unread: (gap) =>
        unknown(`${text}, if its type of update is one that uses that: ${unfilledIn(gap)}`, RENDER_FIRST),
    });
  const unfilled = (gap: Gap) =>
    unknown(`updates with values that are not filled in: ${unfilledIn(gap)}`, RENDER_FIRST);
  const judge = (surge: Amount): Said<Statement> => {
    if (whyInvalid(surge) !== undefined) return undefined;
    if (!isZero(surge) && one.hasDriver)
      return say(
        `updates with maxSurge ${surge}, and has a driver in its pods`,
        "set maxSurge: 0, and maxUnavailable: 1",
      );
    return maxUnavailable({
      seen: (most) => judgeBoth(surge, most, say),
      unread: (gap) => unfilled(gap),
    });
  };
  return [
    judgeAmount("maxSurge", maxSurge, say),
    judgeAmount("maxUnavailable", maxUnavailable, say),
    maxSurge({ seen: judge, unread: (gap) => unfilled(gap) }),
  ];
});

type Amount = string | number;
type SayUpdate = (text: string, fix: string) => Said<Statement>;

const isZero = (amount: Amount) => /^0+%?$/.test(`${amount}`);

// What is refused is in the API server's words (ValidateRollingUpdateDaemonSet).
const REFUSED = "is refused by the API server:";

const judgeAmount = (field: string, amount: Seen<Amount>, say: SayUpdate) =>
  amount.map((value) => {
    const why = whyInvalid(value);
    if (why === undefined) return undefined;
    const isQuoted = typeof value === "string" && /^\d+$/.test(value);
    const fix = isQuoted ? `write ${value} without quotes` : A_NUMBER;
    return say(`${REFUSED} ${field}: Invalid value: ${JSON.stringify(value)}: ${why}`, fix);
  });

function judgeBoth(surge: Amount, unavailable: Amount, say: SayUpdate): Said<Statement> {
  if (whyInvalid(unavailable) !== undefined || isZero(surge) !== isZero(unavailable)) return undefined;
  return isZero(surge)
    ? say(`${REFUSED} maxUnavailable cannot be 0 when maxSurge is 0`, "set maxUnavailable: 1")
    : say(`${REFUSED} maxSurge may not be set when maxUnavailable is non-zero`, "set maxUnavailable: 0");
}

const A_NUMBER = "write a whole number from 0 on, or a percentage up to 100%, such as 10%";
const MAX_INT32 = 2 ** 31 - 1;

function whyInvalid(value: string | number): string | undefined {
  if (typeof value === "number") {
    if (value < 0) return "must be greater than or equal to 0";
    return Number.isInteger(value) && value <= MAX_INT32 ? undefined : "is not an int32";
  }
  if (!/^[0-9]+%$/.test(value))
    return "a valid percent string must be a numeric string followed by an ending '%'";
  return Number(value.slice(0, -1)) > 100 ? "must not be greater than 100%" : undefined;
}

const manifestUser = eachRegistrar("CSI108", "manifest-user", ({ user: { isNonRoot, id } }) => {
  const notRoot = (field: string) =>
    problem(`does not run as root: ${field}`, "set runAsUser: 0 and runAsNonRoot: false in the container");
  if (isNonRoot) return notRoot("runAsNonRoot");
  return id({
    seen: (uid) => (/^0*$/.test(uid) ? undefined : notRoot(`runAsUser ${uid}`)),
    unread: (gap) => unknown(`has a user that is not filled in: ${unfilledIn(gap)}`, RENDER_FIRST),
  });
});

export const manifestOperatingSystem = eachRegistrar(
  "CSI112",
  "manifest-operating-system",
  ({ program, isForWindows }) => {
    const judge = () => (program.kind === "ours" ? judgeWindows(program.image === "swapped") : undefined);
    return isForWindows({
      no: nothing,
      yes: judge,
      unknown: () => UNKNOWN_SYSTEM,
    });
  },
  () => true,
);

const UNKNOWN_SYSTEM = unknown(
  "is for nodes whose operating system is not filled in: Linux and Windows have other rules",
  RENDER_FIRST,
);

const judgeWindows = (isSwapped: boolean): Statement =>
  isSwapped
    ? warning(
        "has the same image as one for Linux, and this registrar does not run on Windows nodes",
        "keep the official image there, if the cluster has any: an admission policy swaps it on Linux only",
      )
    : problem("is for Windows nodes, and this registrar runs on Linux only", "use the official image there");

const manifestArchitecture = eachRegistrar("CSI110", "manifest-architecture", ({ program, foreign }) => {
  const all = foreign.architectures;
  if (program.kind !== "ours" || all.length === 0) return undefined;
  return all.some(isTemplate)
    ? unknown(`is for nodes whose architecture is not filled in: ${together(all)}`, RENDER_FIRST)
    : warning(
        `may run on ${all.join(" and ")} nodes, for which the build of README.md makes no image`,
        `build the image with --platform=linux/amd64,linux/arm64${all.map((one) => `,linux/${one}`).join("")}`,
      );
});

const manifestInit = eachRegistrar("CSI106", "manifest-init-container", ({ role, settings }) =>
  settings
    .is(({ mode }) => mode === "one" || mode === "node-wide")
    .say({ yes: () => judgeRole(role), no: nothing, unknown: withheld }),
);

const judgeRole = (role: RegistrarContainer["role"]) =>
  role({
    seen: (one) =>
      one === "init"
        ? problem(
            "is an init container, and never ends: no container of the pod starts",
            "move it to containers, or set restartPolicy: Always",
          )
        : undefined,
    unread: (gap) =>
      unknown(`is an init container whose restartPolicy is not filled in: ${unfilledIn(gap)}`, RENDER_FIRST),
  });

const OTHER_PORT = "give one of them another port, and its probes too";

const manifestPorts = eachRegistrar("CSI109", "manifest-ports", (one, { registrars }) =>
  one.served.map((http) => judgePort(one, http, registrars)),
);

function judgePort(
  one: RegistrarContainer,
  http: Served,
  registrars: SeenList<RegistrarContainer>,
): Said<Statement> {
  if (http.port === 0) return undefined;
  const port = `${http.port}`;
  const servedBy = (isShared: (on: string) => boolean) =>
    one.beside.find(({ serves }) => serves.some((its) => its.port === port && isShared(its.on)));
  const isAll = (on: string) => [on, http.on].includes("all") || (on === http.on && on !== "open");
  const other = servedBy(isAll);
  if (other)
    return problem(
      `serves port ${port}, and so does container ${other.name}: the second one cannot bind it`,
      OTHER_PORT,
    );
  const owner = one.beside.find(({ declared }) => declared.includes(port));
  if (owner)
    return warning(
      `serves port ${port}, which is one of container ${owner.name}'s ports: if that serves it, the second one cannot bind it`,
      `${OTHER_PORT}; or move the port's declaration to the registrar`,
    );
  const mayBeOther = servedBy((on) => [on, http.on].includes("open"));
  if (mayBeOther)
    return unknown(
      `serves port ${port}, and so does container ${mayBeOther.name}: whether on one address cannot be seen here`,
      OTHER_PORT,
    );
  const unclear = one.beside.find(({ open }) => open !== undefined);
  if (unclear)
    return unknown(
      `serves port ${port}, and whether container ${unclear.name} does is not filled in: ${unclear.open}`,
      isTemplate(withoutVariables(unclear.open ?? ""))
        ? RENDER_FIRST
        : `see where its env takes ${unclear.open} from: ${port} must be the registrar's alone`,
    );
  const fix = `${OTHER_PORT}, or leave hostNetwork out`;
  const others = (answer: Decided) =>
    registrars
      .filter((another) =>
        another.isForWindows
          .not()
          .and(another.served.contains((its) => clashes(one, another, isSamePort(http, its)) === answer)),
      )
      // The same one, in whatever order they are read.
      .sorted(({ place }) => place)
      .together();
  const text = `serves port ${http.port} of the node's network, and so does`;
  return [
    others(true).map(({ first: { place } }) =>
      problem(`${text} ${place}: the second one on a node cannot bind it`, fix),
    ),
    others("open").map(({ first: { place } }) =>
      unknown(`${text} ${place}: whether at one address of one node cannot be seen here`, fix),
    ),
  ];
}

/** Whether pods of two objects share the network of their nodes, and this port of it. */
function clashes(one: RegistrarContainer, another: RegistrarContainer, isSame: Decided): Decided {
  // The other one says it, in whatever order they are read.
  if (!one.isOnNode || !another.isOnNode || another.place >= one.place) return false;
  if (isSame === false || one.about.name === another.about.name) return false;
  if (one.nodes === another.nodes) return isTemplate(one.nodes) ? "open" : isSame;
  return areApart(one, another) === "open" && "open";
}

/** Whether no node may have the pods of both, as far as their node selectors and affinities tell; `open`: a placeholder decides it. */
export function areApart(one: RegistrarContainer, another: RegistrarContainer): Decided {
  const selectors = one.nodeSelector.flatMap(([key, value]) =>
    another.nodeSelector.flatMap((other) => (other[0] === key ? [[value, other[1]]] : [])),
  );
  const differing = [...selectors, [one.affinity, another.affinity]].filter(([its, other]) => its !== other);
  if (differing.some((texts) => !texts.some(isTemplate))) return true;
  return differing.length > 0 && "open";
}

type Served = ItemOf<RegistrarContainer["served"]>;

function isSamePort(one: Served, another: Served): Decided {
  const both = [one.on, another.on];
  if (one.port !== another.port) return false;
  if (both.includes("all") || both.every((on) => on === "pod")) return true;
  return both.includes("open") ? "open" : one.host === another.host;
}

export const podChecks = [
  ...[manifestInit, manifestSurge, manifestUser, manifestPorts, manifestArchitecture],
  manifestOperatingSystem,
];
