import { basename, dirname, join } from "node:path/posix";
import { flagTable } from "../../../../flags/table";
import { isPattern, leadsThrough } from "../../../../host-path/path-pattern";
import { isWithin } from "../../../../unix/mounts";
import { fitsSocketPath } from "../../../../unix/socket-path";
import type { Verdict, Verdicts } from "../../findings/finding";
import { judgeDriverPlace } from "../../findings/registration-directory";
import { listFrom, nothing, otherwise, withheld } from "../../findings/seen";
import { tooLong, writeFlag } from "../../findings/words";
import type { ToldPaths } from "../read/arguments";
import { isSamePlace, mountOf, onHost, onHosts, placeOf } from "../read/pod";
import type { RegistrarContainer } from "../read/registrars";
import type { ParsedSettings } from "../read/settings";
import { defineFirst, isUnixAddress } from "./arguments";
import { manifestDriverSocket } from "./driver-socket";
import { eachRegistrar, ok, problem, unknown, warning } from "./each-registrar";
import {
  addressesOf,
  isMountPoint,
  isRelative,
  isSocket,
  judgeMount,
  judgeMountPoint,
  judgeRelative,
  LINKED,
  madeBy,
  madeIn,
  mayBeLinked,
  mountDirectoryOf,
  undeclared,
  unfilledPath,
} from "./mounts";
import { manifestRegistrationDirectory } from "./registration-directory";

const manifestDriverPath = eachRegistrar("CSI102", "manifest-driver-path", (one) =>
  one.usable.map((parsed) => judgeDriverPath(one, parsed)),
);

const judgeDriverPath = (
  one: RegistrarContainer,
  { paths, literals: { ofPaths } }: ParsedSettings,
): Verdicts => [
  ofPaths.map((name) =>
    problem(`takes $(${name}), which its env does not define before it`, defineFirst(name)),
  ),
  paths({
    seen: (both) => judgePaths(one, both),
    unread: (gap) => ofPaths.contains().say({ yes: nothing, ...otherwise(() => unfilledPath(gap)) }),
  }),
];

function judgePaths(one: RegistrarContainer, paths: ToldPaths): Verdicts {
  const { mounts } = one;
  const { csiAddress, dialed, told } = paths;
  // CSI101 says it.
  if (!isUnixAddress(dialed)) return undefined;
  if (!csiAddress.startsWith("/"))
    return warning(
      `has the relative --csi-address=${csiAddress}: where that is on the host is not known`,
      "write an absolute path",
    );
  const mountPoints = mounts.map(({ mountPath }) => mountPath);
  const single = leadsThrough(csiAddress, mountPoints)
    ? unknown("has mounts for single drivers below its patterns: their paths on the host are not compared")
    : undefined;
  const well = () => single ?? ok(`tells kubelet where the driver's socket is on the host: ${told}`);
  const isMounted = mountOf(csiAddress, mounts) !== undefined;
  return single !== undefined && !isMounted ? single : judgePath(one, paths, well);
}

function judgePath(one: RegistrarContainer, paths: ToldPaths, well: () => Verdict): Verdicts {
  const { mounts } = one;
  const { csiAddress } = paths;
  const mount = mountOf(csiAddress, mounts);
  if (mount === undefined)
    return problem(`has nothing mounted where --csi-address=${csiAddress} is`, adviceOnNoMount(one, paths));
  const noHost = () =>
    problem(
      undeclared(mount) ??
        `has the driver's socket in a volume of kind ${mount.volumeKind}, where kubelet cannot reach it`,
      "make it the hostPath <kubelet root>/plugins/NAME",
    );
  const judge = () =>
    onHost(
      csiAddress,
      mounts,
    )({
      seen: (host) => {
        if (host === undefined) return noHost();
        if (isRelative(host)) return mount.hostPath.map((path = "") => judgeRelative(path, mount.mountPath));
        return isMountPoint(csiAddress, mounts)
          ? judgeMountPoint(one, paths, mount, host)
          : judgeTold(one, paths, host, well);
      },
      unread: (gap) => unfilledPath(gap),
    });
  return isMountPoint(csiAddress, mounts) ? judge() : judgeMount(mount, paths, judge);
}

function judgeTold(
  one: RegistrarContainer,
  { csiAddress, told }: ToldPaths,
  expected: string,
  well: () => Verdict,
): Verdicts {
  const { mounts, hostPaths, place: subject } = one;
  const { mountPath = "" } = mountOf(csiAddress, mounts) ?? {};
  if (expected === join(told, basename(csiAddress)) && isSocket(told, csiAddress, mountPath))
    return problem(
      `mounts ${told} at ${mountPath}: that is the socket, and its directory must be there`,
      mountDirectoryOf(told),
    );
  if (!fitsSocketPath(told))
    return problem(
      `tells kubelet ${told}, which ${tooLong(Buffer.byteLength(told))}`,
      "use a shorter directory",
    );
  const flag = writeFlag("kubelet-registration-path", expected);
  if (onHosts(told) === onHosts(expected)) {
    if (told.endsWith("/"))
      return problem(`tells kubelet ${told}: a path that ends with / is no socket's`, flag);
    const misplaced = isPattern(told)
      ? undefined
      : judgeDriverPlace(told, subject, "has the driver's socket");
    return misplaced ?? well();
  }
  // With several drivers its container may mount another one's directory.
  const isOther =
    /\/plugins\/[^/]+$/.test(dirname(told)) &&
    basename(told) === basename(csiAddress) &&
    !isWithin(expected, dirname(told));
  const made = madeBy(one);
  const isTold = made.contains();
  const fix = hostPaths
    .filter((path) => isTold.not().and(isOther && onHosts(path) === onHosts(dirname(told))))
    .map((path) => `mount the hostPath ${path} at ${dirname(csiAddress)}`)
    .told(flag);
  const wrong = () =>
    mayBeLinked(told, expected)
      ? unknown(`tells kubelet ${told}, and the driver's socket is ${expected}: ${LINKED}`, fix)
      : problem(`tells kubelet ${told}, but on the host the driver's socket is ${expected}`, fix);
  if (isPattern(csiAddress)) return wrong();
  const isMadeThere = made.contains((its) =>
    placeOf(csiAddress, mounts).is((place) => isSamePlace(its.place ?? place, place)),
  );
  // Where it is made elsewhere, or that is not known, CSI115 says what to do about both flags.
  return isTold.and(isMadeThere.not())({
    yes: nothing,
    no: wrong,
    unknown: withheld,
  });
}

/** Where --csi-address was forgotten, its volume is mounted elsewhere: its host path is the one that kubelet dials. */
function adviceOnNoMount(one: RegistrarContainer, { csiAddress, told }: ToldPaths) {
  const { mounts } = one;
  const verb = csiAddress === flagTable.dropIn["csi-address"].default ? "add" : "write";
  const swapped = onHost(told, mounts).items((host) =>
    host === csiAddress
      ? {
          fix: "give each flag the other's value",
          command: `--csi-address=${told} --kubelet-registration-path=${csiAddress}`,
        }
      : undefined,
  );
  const found = listFrom([told])
    .with(madeIn(one))
    .flatMap((path) => addressesOf(path, mounts))
    .map((address) => writeFlag("csi-address", address, verb));
  return swapped.with(found).told("mount the driver's hostPath volume there");
}

export const pathChecks = [manifestDriverPath, manifestRegistrationDirectory, manifestDriverSocket];
