import { basename, dirname, join } from "node:path/posix";
import { isPattern } from "../../../../host-path/path-pattern";
import { isWithin } from "../../../../unix/mounts";
import type { Verdicts } from "../../findings/finding";
import {
  firstSeen,
  type Gap,
  type ItemOf,
  ifUnknown,
  ifYes,
  isWhole,
  nothing,
  type Text,
  type Truth,
  withheld,
  words,
} from "../../findings/seen";
import { RENDER_FIRST, writeFlag } from "../../findings/words";
import type { ToldPaths } from "../read/arguments";
import { type DriverSocket, isOfContainer } from "../read/driver-socket";
import { isSameName, isSamePlace, placeOf, type VolumePath } from "../read/pod";
import type { RegistrarContainer } from "../read/registrars";
import { eachRegistrar, ok, problem, unjudged, unknown } from "./each-registrar";
import { placeholderIn, variableIn } from "./gaps";
import { addressesOf, isMountPoint, isReadOnly, madeBy } from "./mounts";

const sayPlace = ({ volume, path }: VolumePath): Text =>
  volume === undefined ? path : words`volume ${volume}: ${path}`;
/** Beside a path of a container. */
const sayWhere = (place: VolumePath) =>
  words`${sayPlace(place)}${place.volume === undefined ? " on the host" : ""}`;

export const manifestDriverSocket = eachRegistrar("CSI115", "manifest-driver-socket", (one) =>
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
  const unclear = () =>
    unjudged(
      words`waits for ${sayPlace(place)}, and which socket is its driver's is not judged: the pod has several registrars, or sockets`,
      "see that its driver makes its socket there",
    );
  const made = madeBy(one);
  return one.driverSocket({
    seen: ({ told }) => {
      if (told === "none") return judgeUntold(place, one);
      if (told === "unclear") return unclear();
      return made.some({
        yes: ({ first }) => judgeMade(first, isWhole(made), place, one, paths),
        no: nothing,
        unknown: withheld,
      });
    },
    unread: (gap) => {
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
  const named = mayBeDrivers.filter(({ isNamed }) => isNamed());
  const isWell = ({ first }: { readonly first: MayBeDriver }) =>
    ok(words`waits for the socket that container ${first.name} names: ${sayPlace(place)}`);
  return [
    // That it is not judged holds whatever else names it.
    firstSeen(named.together().map(isWell), mayBeDrivers.together().map(untold)),
    ifUnknown(named.contains(), ([gap]) =>
      unknown(
        words`waits for ${sayPlace(place)}, and whether ${gap.subject} makes it is not filled in: ${placeholderIn(gap)}`,
        RENDER_FIRST,
      ),
    ),
  ];
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
    ? writeFlag("csi-address", join(directory, name))
    : `use one name for both: ${name} in --csi-address and --kubelet-registration-path`;
  // Where kubelet and the registrar are told one path, it is the driver that has another.
  const elsewhere = ifYes(isForRegistration(csiAddress, one), () => told);
  const found = addressesOf(made !== undefined && told !== place.path ? made.path : "", one.mounts)
    .with(elsewhere.flatMap((path) => addressesOf(path, one.mounts)))
    .filter((address) => isForRegistration(address, one).not())
    .map((address) => writeFlag("csi-address", address));
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
