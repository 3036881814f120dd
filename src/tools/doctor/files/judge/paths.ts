import { basename, dirname, join } from "node:path/posix";
import { flagTable } from "../../../../flags/table";
import { isPattern, leadsThrough } from "../../../../host-path/path-pattern";
import { isWithin, plainPath } from "../../../../unix/mounts";
import { fitsSocketPath } from "../../../../unix/socket-path";
import type { Verdict, Verdicts } from "../../findings/finding";
import { judgeDriverPlace } from "../../findings/registration-directory";
import {
  type Gap,
  type ItemOf,
  isWhole,
  listFrom,
  nothing,
  otherwise,
  type Text,
  type Truth,
  withheld,
  words,
} from "../../findings/seen";
import { RENDER_FIRST, tooLong, writeFlag } from "../../findings/words";
import type { ToldPaths } from "../read/arguments";
import { type DriverSocket, isOfContainer } from "../read/driver-socket";
import {
  isSameName,
  isSamePlace,
  type MountedDirectory,
  mountOf,
  onHost,
  onHosts,
  placeOf,
  type VolumePath,
} from "../read/pod";
import type { RegistrarContainer } from "../read/registrars";
import type { ParsedSettings } from "../read/settings";
import { defineFirst } from "./arguments";
import { eachRegistrar, ok, problem, unjudged, unknown, warning } from "./each-registrar";
import { placeholderIn, variableIn } from "./gaps";
import {
  isMountPoint,
  isReadOnly,
  isRelative,
  isSocket,
  judgeMount,
  judgeMountPoint,
  judgeRelative,
  LINKED,
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
  const { csiAddress, told } = paths;
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
  return isMountPoint(csiAddress, mounts) ? judge() : judgeMount(mount, csiAddress, judge);
}

function judgeTold(
  { mounts, hostPaths, driverSocket, place: subject }: RegistrarContainer,
  { csiAddress, told }: ToldPaths,
  expected: string,
  well: () => Verdict,
): Verdicts {
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
  const fix = hostPaths
    .filter((path) => isOther && driverSocket.told !== "one" && onHosts(path) === onHosts(dirname(told)))
    .map((path) => `mount the hostPath ${path} at ${dirname(csiAddress)}`)
    .told(flag);
  const wrong = () =>
    mayBeLinked(told, expected)
      ? unknown(`tells kubelet ${told}, and the driver's socket is ${expected}: ${LINKED}`, fix)
      : problem(`tells kubelet ${told}, but on the host the driver's socket is ${expected}`, fix);
  if (driverSocket.told !== "one" || isPattern(csiAddress)) return wrong();
  const isMadeThere = driverSocket.socket.contains((made) =>
    placeOf(csiAddress, mounts).is((place) => isSamePlace(made.place ?? place, place)),
  );
  // Where it is made elsewhere, or that is not known, CSI115 says what to do about both flags.
  return driverSocket.socket.contains().and(isMadeThere.not())({
    yes: nothing,
    no: wrong,
    unknown: withheld,
  });
}

/** Where --csi-address was forgotten, its volume is mounted elsewhere: its host path is the one that kubelet dials. */
function adviceOnNoMount({ mounts, driverSocket }: RegistrarContainer, { csiAddress, told }: ToldPaths) {
  const verb = csiAddress === flagTable.dropIn["csi-address"].default ? "add" : "write";
  const swapped = onHost(told, mounts).items((host) =>
    host === csiAddress
      ? `give each flag the other's value: --csi-address=${told} --kubelet-registration-path=${csiAddress}`
      : undefined,
  );
  const found = listFrom([told])
    .with(madeIn(driverSocket))
    .flatMap((path) => addressesOf(path, mounts))
    .map((address) => `${verb} --csi-address=${address}`);
  return swapped.with(found).told("mount the driver's hostPath volume there");
}

/** The paths at which a container sees a path of the host. */
const addressesOf = (written: string, mounts: readonly MountedDirectory[]) => {
  const path = plainPath(written);
  return listFrom(mounts)
    .flatMap(({ mountPath, hostPath }) =>
      hostPath.items((host) =>
        host !== undefined && host !== path && isWithin(path, host)
          ? join(mountPath, path.slice(host.length))
          : undefined,
      ),
    )
    .filter((address) => onHost(address, mounts).is((host) => host === path));
};

const sayPlace = ({ volume, path }: VolumePath): Text =>
  volume === undefined ? path : words`volume ${volume}: ${path}`;
/** Beside a path of a container. */
const sayWhere = (place: VolumePath) =>
  words`${sayPlace(place)}${place.volume === undefined ? " on the host" : ""}`;

const manifestDriverSocket = eachRegistrar("CSI115", "manifest-driver-socket", (one) =>
  one.usable.items(({ paths }) =>
    paths.items((both) =>
      placeOf(both.csiAddress, one.mounts).map((place) => judgeDriverSocket(one, place, both)),
    ),
  ),
);

function judgeDriverSocket(
  one: RegistrarContainer,
  place: VolumePath | undefined,
  paths: ToldPaths,
): Verdicts {
  // CSI102 says it of what is mounted there.
  if (place === undefined || isPattern(place.path) || isMountPoint(paths.csiAddress, one.mounts))
    return undefined;
  const { driverSocket } = one;
  if (driverSocket.told === "none") return judgeUntold(place, one);
  if (driverSocket.told === "unclear")
    return unjudged(
      words`waits for ${sayPlace(place)}, and which socket is its driver's is not judged: the pod has several registrars, or sockets`,
      "see that its driver makes its socket there",
    );
  return driverSocket.socket.some({
    yes: ({ first }) => judgeMade(first, isWhole(driverSocket.socket), place, one, paths),
    no: nothing,
    unknown: ([gap]) => {
      // All variables of a Secret or ConfigMap are the driver's.
      if (gap.why.kind === "flaw" && gap.why.flaw === "elsewhere")
        return unknown(
          words`waits for ${sayWhere(place)}, and ${gap.subject} may get CSI_ENDPOINT from ${placeholderIn(gap)}, which is not read`,
          one.mayBeDrivers
            .filter(({ name }) => isOfContainer(gap, name))
            .map((driver) => seeSocketOf(driver, place))
            .told(`mount the volume of ${dirname(paths.csiAddress)} in ${gap.subject}`),
        );
      const variable = variableIn(gap);
      return unknown(
        words`waits for ${sayPlace(place)}, and where ${gap.subject} makes its socket is not known: ${placeholderIn(gap)}`,
        variable === undefined
          ? RENDER_FIRST
          : words`see where its env takes ${variable} from, or define it before its use: the socket must be ${sayPlace(place)}`,
      );
    },
  });
}

type MayBeDriver = ItemOf<RegistrarContainer["mayBeDrivers"]>;
/** As this container sees it. */
const seeSocketOf = ({ name, socket }: MayBeDriver, place: VolumePath) =>
  words`see that it makes ${socket.told(sayWhere(place))} in container ${name}`;

/** No known flag or variable tells it. */
function judgeUntold(place: VolumePath, { mayBeDrivers }: RegistrarContainer) {
  const untold = ({ first }: { readonly first: MayBeDriver }) =>
    unjudged(
      words`waits for ${sayPlace(place)}, and where container ${first.name} makes its socket is not judged: no flag or variable that the doctor knows tells it`,
      seeSocketOf(first, place),
    );
  return mayBeDrivers
    .filter(({ isNamed }) => isNamed())
    .some({
      yes: ({ first }) =>
        ok(words`waits for the socket that container ${first.name} names: ${sayPlace(place)}`),
      no: () => mayBeDrivers.together().map(untold),
      unknown: ([gap]) =>
        unknown(
          words`waits for ${sayPlace(place)}, and whether ${gap.subject} makes it is not filled in: ${placeholderIn(gap)}`,
          RENDER_FIRST,
        ),
    });
}

function judgeMade(
  { container, path, place: made, mount }: DriverSocket,
  isSole: Truth,
  place: VolumePath,
  one: RegistrarContainer,
  { csiAddress, told }: ToldPaths,
): Verdicts {
  const others = one.mayBeDrivers.map(({ name }) => name).filter((name) => !isSameName(name, container));
  const mayBe = (gap: Gap) =>
    `may have ${gap.subject} as its driver, which is not filled in: ${placeholderIn(gap)}`;
  const isMade = () => ok(words`waits for the socket that container ${container} makes: ${path}`);
  if (isSamePlace(place, made))
    return !mount?.isReadOnly
      ? isMade()
      : others.contains()({
          yes: isMade,
          no: () =>
            isReadOnly(
              words`waits for the socket of container ${container}, which mounts ${mount.mountPath}`,
            ),
          unknown: ([gap]) => unknown(mayBe(gap), RENDER_FIRST),
        });
  const waits =
    made === undefined
      ? words`waits for ${sayWhere(place)}, and container ${container} makes its socket at its own ${path}, on no volume`
      : words`waits for ${sayPlace(place)}, and container ${container} makes its socket at ${sayPlace(made)}`;
  const [name, directory] = [basename(path), dirname(csiAddress)];
  // There it would hide the image.
  const isAtRoot = dirname(path) === "/";
  const mountIt = isAtRoot
    ? words`make its endpoint unix://${csiAddress}, with the volume of ${directory} at ${directory} in container ${container}`
    : words`mount the volume of ${directory} at ${dirname(path)} in container ${container}`;
  const isTold = made?.volume === undefined && told === made?.path;
  const ofName = isTold
    ? `write --csi-address=${join(directory, name)}`
    : `use one name for both: ${name} in --csi-address and --kubelet-registration-path`;
  // Where kubelet and the registrar are told one path, it is the driver that has another.
  const found = addressesOf(made !== undefined && told !== place.path ? made.path : "", one.mounts)
    .filter((address) => isForRegistration(address, one).not())
    .map((address) => `write --csi-address=${address}`);
  const ofTold =
    name === basename(csiAddress)
      ? `mount the hostPath ${dirname(told)} at ${directory}`
      : "correct --csi-address, or its mount";
  const ofDirectory = found.told(isTold ? ofTold : mountIt);
  const isBeside =
    isSameName(made?.volume, place.volume) && dirname(made?.path ?? "") === dirname(place.path);
  const compare = words`compare its socket with ${sayPlace(place)}`;
  const judge = () =>
    others.some({
      yes: (all) => unknown(words`${waits}; container ${all.first} may be the driver`, compare),
      no: () => problem(waits, made !== undefined && isBeside ? ofName : ofDirectory),
      unknown: ([gap]) => unknown(words`${waits}; ${mayBe(gap)}`, RENDER_FIRST),
    });
  return isSole({
    ...{ yes: judge, no: judge },
    unknown: () => unknown(words`${waits}, unless its envFrom has another CSI_ENDPOINT`, compare),
  });
}

const isForRegistration = (address: string, { settings }: RegistrarContainer) =>
  settings.is(({ parsed }) =>
    parsed.is(({ pluginRegistrationPath }) =>
      pluginRegistrationPath.is((directory) => isWithin(address, directory)),
    ),
  );

export const pathChecks = [manifestDriverPath, manifestRegistrationDirectory, manifestDriverSocket];
