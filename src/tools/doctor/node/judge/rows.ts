import { attempt } from "../../../../base/errors";
import { type Cell, skipped, toldRow, troublesIn, unknown } from "../../findings/finding";
import { asFarAsAsked, atLeast } from "../../findings/least";
import type { Told, Words } from "../../findings/opened";
import type { DriverRow } from "../../findings/report";
import {
  firstSeen,
  type Gap,
  kept,
  lacking,
  listFrom,
  nothing,
  otherwise,
  type SeenList,
  type Text,
  truth,
  unless,
  withheld,
  words,
} from "../../findings/seen";
import { judgeDriver } from "./driver";
import { judgeEndpoint } from "./endpoint";
import {
  misplacedText,
  NO_NODE_SERVICE,
  processesOf,
  processText,
  type Standing,
  standingOf,
  waitingText,
} from "./found";
import { folderCheck } from "./machine";
import { judgeAnswered } from "./registration";
import { failureIn, gapText, HANGING, predicateOf, silenceOf, socketText } from "./trouble";
import { type Answering, type Driver, isOf, saysName, soleIn, type View } from "./view";

type Row = Told<DriverRow>;
/** Null: unknown. */
type Known = Cell<string | null>;

const rowOf = (
  state: string,
  reason: Known,
  known: { readonly [Column in Exclude<keyof DriverRow, "state">]?: Known } = {},
): Row =>
  toldRow<DriverRow>({
    ...{ name: null, state, since: null, reason, csiSocket: null, registrationSocket: null },
    ...known,
  });

/**
 * One row for each driver found anywhere: in the registration directory, under kubelet's plugins, by its flag, or by a process
 * that waits for it.
 */
export function driversIn(view: View): SeenList<Row> {
  const { answering, drivers, registrations, waiting, misplaced, watched } = view;
  const published = answering.flatMap((one) => publishedRow(one, view));
  const unpublished = drivers.flatMap((driver) => withRow(driver, view));
  // Registration sockets on which no registrar answers.
  const named = registrations.flatMap(({ mayBeNames, ...one }) =>
    mayBeNames.map((name) => ({ ...one, name })),
  );
  const silent = named.flatMap(({ path, name, answer, isLeft, isAskedFor }) => {
    // Of several drivers, or where one may not be seen, any may be its driver: one that says no name, too.
    const isOwn = ({ driver }: Unpublished) => saysName(driver, name);
    const own = soleIn(unpublished.filter(isOwn));
    const say = (state: string, text: string) => {
      const csiSocket = own.map(({ driver }) => driver.socket.path);
      const reason = `${path} ${text}`;
      const row = rowOf(state, reason, { name, csiSocket, registrationSocket: path });
      const isShown = answering.contains(({ plugin }) => plugin.name === name);
      return unless(isShown, { name, own, reason, row });
    };
    return answer({
      seen: (one) => {
        if (one.kind === "plugin" || one.isFile) return listFrom<never>([]);
        // One that hangs may be another plugin's.
        const isKnown = isLeft.or(isAskedFor).or(one.state !== HANGING);
        const unsure = () => say("unknown", one.text);
        return isKnown({ yes: () => say(one.state, one.text), no: unsure, unknown: unsure });
      },
      unread: (gap) => say("unknown", predicateOf(gap)),
    });
  });
  const others = unpublished.flatMap((one) => {
    const { driver, row } = one;
    const same = silent.filter(({ name }) => saysName(driver, name));
    return same.some({
      yes: ({ first: { own, reason } }) => {
        const either = `${reason}; its driver is this one, or another of its name`;
        const isIt = own.contains((its) => its.driver === driver);
        return unless(isIt, { driver, row: rowOf("unknown", either, knownOf(driver)) });
      },
      ...otherwise(() => kept({ driver, row })),
    });
  });
  const rowsOfWaiting = waiting.flatMap((one) => {
    const isShown = others.contains(({ driver }) =>
      one.csiSocketPath.contains((path) => path === driver.socket.path),
    );
    return unless(isShown, rowOf("waiting", `a registrar ${waitingText(one)}`, { csiSocket: one.endpoint }));
  });
  // A registrar of another directory is this node's only where a kubelet shows that it is wrong.
  const rowsOfMisplaced = misplaced.flatMap((one) => {
    const isShown = answering.contains(({ plugin }) => plugin.endpoint === one.endpoint);
    return watched.flatMap((first) => {
      const reason = `its registrar ${misplacedText(one, first)}`;
      return unless(isShown, rowOf("unpublished", reason, { csiSocket: one.endpoint }));
    });
  });
  const rows = [silent.map(({ row }) => row), others.map(({ row }) => row), rowsOfWaiting, rowsOfMisplaced];
  return rows.reduce((all, some) => all.with(some), published);
}

interface Unpublished {
  readonly driver: Driver;
  readonly row: Row;
}

const knownOf = ({ names, socket }: Driver) => ({
  name: names,
  csiSocket: socket.path,
});

/** What could not be read of the row's own sockets; or of another one, and what that leaves open. */
function openText(gaps: readonly [Gap, ...Gap[]], own: readonly string[], what: string): string {
  const ofOthers = `${what} is not known: ${gapText(gaps[0])}`;
  const [text = ofOthers] = gaps.filter(({ subject }) => own.includes(subject)).map(gapText);
  return text;
}

const TWIN = "another driver has its name: ";

/** With the row of a driver that has no registration socket, or of which that is not known. */
function withRow(driver: Driver, view: View): SeenList<Unpublished> {
  const { isRegistered, mayBeUnclear, mayBeNode, isBeside, twins } = driver;
  const known = knownOf(driver);
  const withIt = (row: Row) => kept({ driver, row });
  const whyUnknown = (gaps: readonly [Gap, ...Gap[]]) =>
    firstSeen(
      silenceOf(driver),
      twins.map(({ socket }) => TWIN + socket.path),
      listFrom([openText(gaps, [driver.socket.path], "whether it is registered")]),
    );
  const unknown = (gaps: readonly [Gap, ...Gap[]]) => withIt(rowOf("unknown", whyUnknown(gaps), known));
  return isRegistered.not().and(mayBeUnclear.and(driver.isNamed.not()).or(mayBeNode)).and(isBeside.not())({
    yes: () =>
      standingOf(driver).some({
        yes: ({ first }) => withIt(rowOf(...unpublishedState(first, driver, view), known)),
        ...{ no: () => listFrom<Unpublished>([]), unknown },
      }),
    ...{ no: () => listFrom<Unpublished>([]), unknown },
  });
}

function publishedRow(one: Answering, view: View): SeenList<Row> {
  const { plugin, path } = one;
  const { report } = plugin;
  const known = {
    name: plugin.name,
    csiSocket: plugin.endpoint || path,
    registrationSocket: path,
  };
  const sayOr = (state: string) => (reason: Known) => {
    const rows = report.map((told) => {
      const since = attempt(() => new Date(told.changedAtMs).toISOString()) ?? null;
      return rowOf(told.state, told.reason ?? reason, { ...known, since });
    });
    return firstSeen(rows, kept(rowOf(state, reason, known)));
  };
  const say = sayOr("unreported");
  // What cannot be seen from here is no trouble that the row could tell.
  return asFarAsAsked(troublesOf(one, view)).some({
    yes: ({ first }) => say(first),
    no: () => say(null),
    // Without a state, whether its driver answers is all that the row would tell.
    unknown: (gaps) => {
      return sayOr("unknown")(openText(gaps, [path, known.csiSocket], "whether its driver answers"));
    },
  });
}

/** What is wrong with a registration and with its driver, as the checks say it of one that the doctor was called for. */
function troublesOf(one: Answering, view: View): SeenList<Words> {
  const named = { ...one, isAskedFor: truth(true) };
  const whole = { ...view, isForAll: true };
  const answersOf = (driver: Driver) =>
    driver.socket.at.map((there) =>
      there.kind === "accepting"
        ? judgeDriver(driver, view)
        : unknown("the driver's socket", socketText(there)),
    );
  const answers = view.drivers
    .filter((driver) =>
      one.endpoint.is((endpoint) => isOf({ ...one, endpoint }, driver, view.drivers, view.target)),
    )
    .some({ yes: ({ first }) => answersOf(first), no: nothing, unknown: withheld });
  return troublesIn([judgeAnswered(named, whole), judgeEndpoint(named, whole), answers]);
}

/** The same, as a row of the table has it. */
function unpublishedState(
  standing: Standing,
  driver: Driver,
  view: View,
): readonly [state: string, reason: Known] {
  const orFailure = (text: Text) =>
    driver.nodeInfo({
      seen: (answer) => failureIn(answer) ?? text,
      unread: (gap) => words`the driver ${lacking([gap], predicateOf(gap))}`,
    });
  const elsewhere = view.answering
    .filter(({ plugin }) => plugin.name === standing.name)
    .map(({ path }) => `its registrar on ${path} names another endpoint`);
  const waiting = asFarAsAsked(processesOf(driver, view)).map(
    (one) => `${processText(one)} has not published it`,
  );
  const byWhom = firstSeen(elsewhere, waiting).some({
    yes: ({ first }) => first,
    no: () => "no registrar has published it",
    unknown: (gaps) => lacking(gaps, `whether a registrar runs is not known: ${gapText(gaps[0])}`),
  });
  switch (standing.kind) {
    case "not-wanted":
      return ["not-wanted", standing.why];
    case "unclear":
      return ["unknown", NO_NODE_SERVICE];
    case "silent":
      return ["unpublished", silenceOf(driver).orElse(() => standing.why)];
    case "unsafe":
      return ["unpublished", `a registrar refuses the driver's name: ${standing.why}`];
    case "twin":
      return ["unpublished", orFailure(TWIN + standing.why)];
    case "unpublished":
      return ["unpublished", orFailure(words`the driver answers; ${byWhom}`)];
  }
}

const SEE_SETS = {
  fix: "if a driver should be here, see whether its DaemonSet is there, and ready",
  command: "kubectl get daemonsets -A -o wide",
};

/** Where no CSI driver's registrar answers, the rows tell more. */
export const noneAnswers = folderCheck("CSI015", "registration", ({ path }, view) => {
  const { isForAll, registrations } = view;
  const text = "has no registration socket on which a CSI driver's registrar answers";
  const judge = () =>
    atLeast(driversIn(view).contains(), {
      yes: () => skipped(path, text, SEE_SETS),
      least: () => unknown(path, text, SEE_SETS),
      unknown: () => unknown(path, text, SEE_SETS),
    });
  const isOne = registrations.contains(({ isAskedFor }) => isAskedFor).or(!isForAll);
  return atLeast(isOne, { yes: nothing, least: judge, unknown: withheld });
});
