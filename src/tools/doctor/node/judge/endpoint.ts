import type { GetPluginInfoResponse } from "../../../../grpc/protos";
import { check, ok, problem, unknown, type Verdicts, warning } from "../../findings/finding";
import { asFarAsAsked, atLeast } from "../../findings/least";
import { doubted, firstIn, ifYes, otherwise, type SeenList, type Truth, withheld } from "../../findings/seen";
import { callText } from "../../findings/why";
import { namedText } from "../../findings/words";
import type { Answered, DriverLook } from "../read/looks";
import type { SeenSocket } from "../read/socket";
import { ADVICE, CAUSES, fixOfPath, remedyFor, socketText } from "./trouble";
import { type Answering, isSame, pathFix, saysName, soleIn, type View } from "./view";

const CORRECT_PATH =
  "correct the registrar's --kubelet-registration-path and the hostPath of the driver's directory";

export const endpointCheck = check("CSI016", "registration-endpoint", (view: View) =>
  view.answering.map((one) => judgeEndpoint(one, view)),
);

/** What is said of a driver that the doctor was called for, and of another one. */
export const asAsked =
  (isAskedFor: Truth) =>
  (...said: Parameters<typeof problem>) =>
    isAskedFor({ yes: () => problem(...said), ...otherwise(() => warning(...said)) });

type Question = ReturnType<typeof questionOf>;

function questionOf({ plugin, isAskedFor, path }: Answering, view: View) {
  const { name, endpoint } = plugin;
  const { drivers, target } = view;
  const place = endpoint === "" ? `${path}, its registration socket` : endpoint;
  /** The driver of that name, if there is only one. */
  const own = soleIn(asFarAsAsked(drivers.filter((driver) => saysName(driver, name))));
  const fixPath = own.map(({ socket }) => pathFix(socket, view, CORRECT_PATH)).told(CORRECT_PATH);
  return {
    ...{ name: namedText(name), place, own, fixPath, isAskedFor },
    saidAt: `is said to be at ${place}`,
    wrong: { kind: "endpoint", driver: name } as const,
    bad: asAsked(isAskedFor),
    isTold: target.kubeletRegistrationPath === endpoint,
    /** Kubelet registers a driver only after it has reached it there. */
    isReached: plugin.report.is(({ state }) => state === "registered"),
  };
}

export function judgeEndpoint(one: Answering, view: View): Verdicts {
  const question = questionOf(one, view);
  const { name, saidAt, fixPath, wrong, bad, isAskedFor, isTold } = question;
  const toldPath = view.target.kubeletRegistrationPath;
  return one.endpoint.map((endpoint): Verdicts => {
    if (endpoint === undefined)
      return bad(name, `${saidAt}, which is not an absolute path of a file`, fixPath, wrong);
    const look = (): SeenList<Verdicts> =>
      endpoint.socket.isHidden.say({
        yes: () => judgeHidden(question, view),
        no: () => endpoint.socket.at.map((there) => judgeAt(question, endpoint, there, view)),
        unknown: withheld,
      });
    return isAskedFor.and(!view.isForAll && toldPath !== undefined && !isTold)({
      yes: () => problem(name, `${saidAt}, not at ${toldPath}`, fixPath, wrong),
      ...otherwise(look),
    });
  });
}

function judgeAt(question: Question, endpoint: DriverLook, there: SeenSocket, view: View): Verdicts {
  return there.kind === "accepting"
    ? endpoint.identity.map((identity) => judgeIdentity(question, there, [endpoint, identity], view))
    : judgeAbsent(question, there, view);
}

/** Its directory is not seen from here. */
function judgeHidden(question: Question, view: View): Verdicts {
  const { name, own, place, saidAt, isAskedFor, isTold, isReached, fixPath, wrong, bad } = question;
  const { hostPath, socketsOnHost, driver } = view;
  const isAt = (isSo: (socket: DriverLook["socket"], inode: string) => boolean | Truth) =>
    own.contains(({ socket }) => socket.inode.is((inode) => inode !== undefined && isSo(socket, inode)));
  // What the mounts put there is the socket of --csi-address: this driver's.
  const isMounted = hostPath.is(({ kind }) => kind === "fits").and(isTold);
  const isOwn = isMounted.and(isAt((socket) => driver !== undefined && isSame(socket, driver.socket)));
  const byMounts = () =>
    ok(name, `is at the path that kubelet gets, by the mounts of this container: ${place}`);
  const reached = () => ok(name, `is where kubelet reached it, as its registrar reports: ${place}`);
  const unknownPlace = () => unknown(name, `${saidAt} on the host, which cannot be seen from here`);
  const isUp = driver === undefined || driver.socket.at.is(({ kind }) => kind === "accepting");
  const unseen = () =>
    atLeast(isReached.and(isUp), { yes: reached, least: unknownPlace, unknown: unknownPlace });
  const hidden = () => ifYes(isAskedFor, () => isOwn({ yes: byMounts, ...otherwise(unseen) }));
  const isOnHost = isAt((_, inode) => socketsOnHost.contains((one) => one.inode === inode));
  const absent = () => bad(name, `${saidAt}, which is not there, nor is its directory`, fixPath, wrong);
  // What is not seen of the host's sockets takes nothing from what the mounts and the registrar tell.
  return atLeast(isOnHost, { yes: absent, least: hidden, unknown: () => doubted(hidden()) });
}

function judgeAbsent({ name, own, saidAt, fixPath, wrong, bad }: Question, there: SeenSocket, view: View) {
  const [fix, cause] = remedyFor(there, view, view.target.csiSocketPath);
  // A driver of that name that is alive elsewhere needs no start.
  const isElsewhere = own
    .contains(({ socket }) => socket.inode.is((inode) => inode !== undefined && inode !== there.inode))
    .or(cause === undefined);
  const remedy = ifYes(isElsewhere, () => fixPath).told(fix);
  return bad(name, `${saidAt}, which ${socketText(there)}`, remedy, cause ?? wrong);
}

function judgeIdentity(
  question: Question,
  there: SeenSocket,
  [endpoint, identity]: readonly [DriverLook, Answered<GetPluginInfoResponse>],
  view: View,
): Verdicts {
  const { hostPath } = view;
  const { name, place, saidAt, fixPath, wrong, bad, isAskedFor, isTold } = question;
  if (identity.kind === "failed") {
    const fix = identity.code === "DeadlineExceeded" ? ADVICE.driverHangs : fixPath;
    return bad(name, `${saidAt}, which ${callText(identity)}`, fix, CAUSES.nameless(there));
  }
  const its = namedText(identity.value.name);
  if (its !== name) return bad(name, `${saidAt}, where the driver ${its} answers`, fixPath, wrong);
  return ifYes(isAskedFor, () => {
    // What answers at this path in the container may be nothing on the host.
    const isWrong = hostPath.items((path) =>
      path.kind === "wrong"
        ? problem(name, `${saidAt}; ${path.problem}`, fixOfPath(path), { kind: "host-path" })
        : undefined,
    );
    const isWell = endpoint.identity.map(() => ok(name, `is at the path that kubelet gets: ${place}`));
    return isTold ? firstIn(isWrong, isWell) : isWell;
  });
}
