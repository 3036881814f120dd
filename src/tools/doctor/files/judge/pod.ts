import { check, type Verdict, type Verdicts } from "../../findings/finding";
import {
  type Gap,
  type ItemOf,
  ifUnknown,
  ifYes,
  nothing,
  type Seen,
  type SeenList,
  type Truth,
  words,
} from "../../findings/seen";
import { RENDER_FIRST } from "../../findings/words";
import { isOneObject } from "../read/identity";
import { WITH_PODS } from "../read/kinds";
import { type ServingOnNode, servingOnNode } from "../read/on-node";
import { areTogether } from "../read/pool";
import type { ManifestFacts, RegistrarContainer } from "../read/registrars";
import { isRegistering } from "../read/settings";
import { eachRegistrar, judgeEach, notFilledIn, problem, unknown, warning } from "./each-registrar";
import { placeholderIn, variableIn } from "./gaps";
import { OTHER_PORT } from "./probes";

const manifestSurge = eachRegistrar("CSI107", "manifest-surge", (one) => {
  const { maxSurge, maxUnavailable } = one.update;
  const unfilled = (gap: Gap) => notFilledIn("updates with values that are", gap);
  const judge = (surge: Amount): Verdicts => {
    if (whyInvalid(surge) !== undefined) return undefined;
    const [text, fix] = [`updates with maxSurge ${surge}, and`, "set maxSurge: 0, and maxUnavailable: 1"];
    const two = () => problem(`${text} has a driver in its pods`, fix);
    const perhaps = () => unknown(`${text} whether its pods have a driver is not known`, `if so, ${fix}`);
    const both = () =>
      maxUnavailable({ seen: (most) => judgeBoth(surge, most), unread: (gap) => unfilled(gap) });
    const isTwo = one.hasDriver.and(!isZero(surge));
    return isTwo({ yes: two, no: both, unknown: perhaps });
  };
  return [
    one.workload({
      seen: (kind) =>
        ON_SOME_NODES.includes(kind)
          ? warning(
              `is in a ${kind}: only the nodes with its pods get the driver, and one may get two pods`,
              "use a DaemonSet, unless these nodes are enough",
            )
          : undefined,
      unread: (gap) => notFilledIn("is in an object whose kind is", gap),
    }),
    judgeAmount("maxSurge", maxSurge),
    judgeAmount("maxUnavailable", maxUnavailable),
    maxSurge({ seen: judge, unread: (gap) => unfilled(gap) }),
  ];
});

const ON_SOME_NODES = WITH_PODS.filter((kind) => kind !== "DaemonSet");

type Amount = string | number;

const isZero = (amount: Amount) => /^0+%?$/.test(`${amount}`);

// What is refused is in the API server's words (ValidateRollingUpdateDaemonSet).
const REFUSED = "is refused by the API server:";

const judgeAmount = (field: string, amount: Seen<Amount>) =>
  amount.map((value) => {
    const why = whyInvalid(value);
    if (why === undefined) return undefined;
    const isQuoted = typeof value === "string" && /^\d+$/.test(value);
    const fix = isQuoted ? `write ${value} without quotes` : A_NUMBER;
    return problem(`${REFUSED} ${field}: Invalid value: ${JSON.stringify(value)}: ${why}`, fix);
  });

function judgeBoth(surge: Amount, unavailable: Amount): Verdicts {
  if (whyInvalid(unavailable) !== undefined || isZero(surge) !== isZero(unavailable)) return undefined;
  return isZero(surge)
    ? problem(`${REFUSED} maxUnavailable cannot be 0 when maxSurge is 0`, "set maxUnavailable: 1")
    : problem(`${REFUSED} maxSurge may not be set when maxUnavailable is non-zero`, "set maxUnavailable: 0");
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
  const isRoot = (uid: string) => /^0+$/.test(uid);
  return [
    id.map((uid) => (isRoot(uid) ? undefined : notRoot(`runAsUser ${uid}`))),
    ifUnknown(id.is(isRoot), ([gap]) => notFilledIn("has a user that is", gap)),
  ];
});

export const manifestOperatingSystem = eachRegistrar(
  "CSI112",
  "manifest-operating-system",
  ({ program, isForWindows }) => {
    const judge = () =>
      program.map((known) => (known.kind === "ours" ? judgeWindows(known.image === "swapped") : undefined));
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

const judgeWindows = (isSwapped: boolean): Verdict =>
  isSwapped
    ? warning(
        "has the same image as one for Linux, and this registrar does not run on Windows nodes",
        "keep the official image there, if the cluster has any: an admission policy swaps it on Linux only",
      )
    : problem("is for Windows nodes, and this registrar runs on Linux only", "use the official image there");

const manifestArchitecture = eachRegistrar("CSI110", "manifest-architecture", ({ program, foreign }) => {
  const judge = () =>
    foreign.architectures({
      seen: (all) =>
        all.length > 0
          ? warning(
              `may run on ${all.join(" and ")} nodes, for which the build of README.md makes no image`,
              `build the image with --platform=linux/amd64,linux/arm64${all.map((one) => `,linux/${one}`).join("")}`,
            )
          : undefined,
      unread: (gap) => notFilledIn("is for nodes whose architecture is", gap),
    });
  return program.map(({ kind }) => (kind === "ours" ? judge() : undefined));
});

const manifestInit = eachRegistrar("CSI106", "manifest-init-container", ({ role, settings }) =>
  ifYes(
    settings.is(({ parsed }) => parsed.is(isRegistering)),
    () => judgeRole(role),
  ),
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
    unread: (gap) => notFilledIn("is an init container whose restartPolicy is", gap),
  });

const manifestPorts = check<ManifestFacts>("CSI109", "manifest-ports", (facts) => {
  const onNode = servingOnNode(facts.registrars);
  return judgeEach(facts, (one) => one.served.map((http) => judgePort(one, http, onNode)));
});

function judgePort(one: RegistrarContainer, http: Served, onNode: ServingOnNode): Verdicts {
  if (http.port === 0) return undefined;
  const port = `${http.port}`;
  const text = `serves port ${port}, and so does container`;
  const serving = one.beside.flatMap(({ name, servesAt }) =>
    servesAt(port).flatMap((its) =>
      isOneAddress(
        http,
        its,
      )({
        yes: () => problem(words`${text} ${name}: the second one cannot bind it`, OTHER_PORT),
        no: nothing,
        unknown: () =>
          unknown(words`${text} ${name}: whether on one address cannot be seen here`, OTHER_PORT),
      }),
    ),
  );
  const declaring = one.beside.flatMap(({ name, declares }) =>
    declares(port).map(() =>
      warning(
        words`serves port ${port}, which is one of container ${name}'s ports: if that serves it, the second one cannot bind it`,
        `${OTHER_PORT}; or move the port's declaration to the registrar`,
      ),
    ),
  );
  const unclear = (gap: Gap) =>
    unknown(
      `serves port ${port}, and whether ${gap.subject} does is not filled in: ${placeholderIn(gap)}`,
      variableIn(gap) === undefined
        ? RENDER_FIRST
        : `see where its env takes ${variableIn(gap)} from: ${port} must be the registrar's alone`,
    );
  const isShared = one.beside.contains(({ tells }) => tells(port));
  return [
    serving,
    declaring,
    ifUnknown(isShared, ([gap]) => unclear(gap)),
    one.isOnNode ? judgeOnNode(one, http, onNode(port, one)) : undefined,
  ];
}

/** The other one says it, in whatever order they are read. */
function judgeOnNode(one: RegistrarContainer, http: Served, registrars: SeenList<RegistrarContainer>) {
  const fix = `${OTHER_PORT}, or leave hostNetwork out`;
  const text = `serves port ${http.port} of the node's network, and so does`;
  const clashesWith = (another: RegistrarContainer) =>
    another.served
      .contains((its) =>
        isOneAddress(http, its)
          .and(its.port === http.port)
          .and(
            areBothLocal(http, its)
              .and(its.host.is((one) => http.host.is((other) => one !== other)))
              .not(),
          ),
      )
      .and(isOneObject(one.identity, another.identity).not())
      .and(areTogether(one.pool, another.pool));
  const others = registrars.map((another) => ({ place: another.place, clashes: clashesWith(another) }));
  return [
    others
      .filter(({ clashes }) => clashes)
      .together()
      .map(({ first: { place } }) =>
        problem(words`${text} ${place}: the second one on a node cannot bind it`, fix),
      ),
    others
      .flatMap(({ place, clashes }) =>
        ifUnknown(clashes, () =>
          unknown(words`${text} ${place}: whether at one address of one node cannot be seen here`, fix),
        ),
      )
      .together()
      .map(({ first }) => first),
  ];
}

/** Then each host is an address of its own. */
const areBothLocal = (...both: readonly Pick<Served, "on">[]): Truth =>
  both.map(({ on }) => on.is((at) => at === "local")).reduce((one, other) => one.and(other));

type Served = ItemOf<RegistrarContainer["served"]>;

const isOneAddress = (one: Pick<Served, "on">, other: Pick<Served, "on">): Truth =>
  [one, other]
    .map(({ on }) => on.is((at) => at === "all"))
    .reduce(
      (some, all) => some.or(all),
      one.on.is((at) => other.on.is((its) => its === at)),
    );

export const podChecks = [
  ...[manifestInit, manifestSurge, manifestUser, manifestPorts, manifestArchitecture],
  manifestOperatingSystem,
];
