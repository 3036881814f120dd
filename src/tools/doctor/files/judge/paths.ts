import { basename, dirname, join, normalize } from "node:path/posix";
import { flagTable } from "../../../../flags/table";
import { DEFAULT_KUBELET_ROOT, KUBELET_ROOTS } from "../../../../host-path/kubelet-roots";
import { isPattern, leadsThrough } from "../../../../host-path/path-pattern";
import { registrationSocketPath } from "../../../../registrar/model/socket-name";
import { isWithin } from "../../../../unix/mounts";
import { fitsSocketPath, MAX_SOCKET_PATH_BYTES } from "../../../../unix/socket-path";
import { isTemplate } from "../../../recognise/rule";
import type { Said } from "../../findings/opened";
import { directoryFor, judgeDriverPlace, registryOf, rootIn } from "../../findings/registration-directory";
import { type ItemOf, isWhole, nothing, withheld, words } from "../../findings/seen";
import { RENDER_FIRST, tooLong, writeFlag } from "../../findings/words";
import type { RegistrarSettings } from "../read/arguments";
import {
  isSamePlace,
  type MountedDirectory,
  mountOf,
  onHost,
  onHosts,
  placeOf,
  type VolumePath,
} from "../read/pod";
import type { RegistrarContainer } from "../read/registrars";
import { defineFirst } from "./arguments";
import { eachRegistrar, ok, problem, type Statement, unknown, warning } from "./each-registrar";

const manifestDriverPath = eachRegistrar("CSI102", "manifest-driver-path", (one) =>
  one.usable.map((settings) => judgeDriverPath(one, settings)),
);

function judgeDriverPath(one: RegistrarContainer, settings: RegistrarSettings): Said<Statement> {
  const { literals, mounts } = one;
  const { csiAddress, kubeletRegistrationPath: told } = settings;
  const own = literals.filter((name) => [csiAddress, told].some((path) => path.includes(`$(${name})`)));
  if (own.length > 0)
    return own.map((name) =>
      problem(`takes $(${name}), which its env does not define before it`, defineFirst(name)),
    );
  if (!csiAddress.startsWith("/") && !isTemplate(csiAddress))
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
  return single !== undefined && !isMounted ? single : judgePath(one, settings, well);
}

const isSocketItself = (csiAddress: string, mounts: readonly MountedDirectory[]): boolean =>
  !isPattern(csiAddress) && mountOf(csiAddress, mounts)?.mountPath === csiAddress;

function judgePath(
  one: RegistrarContainer,
  settings: RegistrarSettings,
  well: () => Statement,
): Said<Statement> {
  const { mounts, driverSocket } = one;
  const { csiAddress, kubeletRegistrationPath: told } = settings;
  const mount = mountOf(csiAddress, mounts);
  if (mount === undefined)
    return problem(
      `has nothing mounted where --csi-address=${csiAddress} is`,
      adviceOnNoMount(mounts, settings),
    );
  const directory = dirname(csiAddress);
  if (isSocketItself(csiAddress, mounts))
    return problem(
      `mounts the driver's socket itself at ${csiAddress}: the driver makes a new file at each start, and the mount keeps the old one`,
      `mount its directory${mount.hostPath === undefined ? "" : `, the hostPath ${dirname(mount.hostPath)},`} at ${directory}`,
    );
  const wrong = wrongType(mount, settings);
  if (wrong !== undefined) return wrong;
  const expected = onHost(csiAddress, mounts);
  if (expected === undefined)
    return problem(
      undeclared(mount) ??
        `has the driver's socket in a volume of kind ${mount.volumeKind}, where kubelet cannot reach it`,
      "make it the hostPath <kubelet root>/plugins/NAME",
    );
  const template = [told, expected].find(isTemplate);
  if (template !== undefined)
    return unknown(`has paths with placeholders that are not filled in: ${template}`, RENDER_FIRST);
  if (!fitsSocketPath(told))
    return problem(
      `tells kubelet ${told}, which ${tooLong(Buffer.byteLength(told))}`,
      "use a shorter directory",
    );
  const place = placeOf(csiAddress, mounts);
  const fix = writeFlag("kubelet-registration-path", expected);
  if (onHosts(told) === onHosts(expected)) {
    if (told.endsWith("/"))
      return problem(`tells kubelet ${told}: a path that ends with / is no socket's`, fix);
    const misplaced = isPattern(told)
      ? undefined
      : judgeDriverPlace(told, one.place, "has the driver's socket");
    return misplaced ?? well();
  }
  const isMadeThere = driverSocket.contains((made) => isSamePlace(made.place ?? place, place));
  // Where it is made elsewhere, or that is not known, CSI115 says what to do about both flags.
  return driverSocket.contains().and(isMadeThere.not()).and(!isPattern(csiAddress))({
    yes: nothing,
    no: () =>
      mayBeLinked(told, expected)
        ? unknown(`tells kubelet ${told}, and the driver's socket is ${expected}: ${LINKED}`, fix)
        : problem(`tells kubelet ${told}, but on the host the driver's socket is ${expected}`, fix),
    unknown: withheld,
  });
}

const inMicroK8s = (path: string) =>
  onHosts(path).replace(new RegExp(`^${DEFAULT_KUBELET_ROOT}(?=/|$)`), KUBELET_ROOTS.microk8s);
/** On most nodes with MicroK8s the default root is a link to its own. */
const mayBeLinked = (one: string, other: string) => inMicroK8s(one) === inMicroK8s(other);
const LINKED = "with MicroK8s one may be a link to the other";

/** Where --csi-address was forgotten, its volume is mounted elsewhere: its host path is the one that kubelet dials. */
function adviceOnNoMount(
  mounts: readonly MountedDirectory[],
  { csiAddress, kubeletRegistrationPath: told }: RegistrarSettings,
) {
  const holding = mounts.find(
    ({ hostPath }) => hostPath !== undefined && hostPath !== told && isWithin(told, hostPath),
  );
  const address = join(holding?.mountPath ?? "", told.slice(holding?.hostPath?.length));
  if (holding === undefined || onHost(address, mounts) !== told)
    return "mount the driver's hostPath volume there";
  return `${csiAddress === flagTable.dropIn["csi-address"].default ? "add" : "write"} --csi-address=${address}`;
}

/** Kubelet checks the type of a hostPath before it starts the pod. */
function wrongType(
  { hostPath, type, mountPath }: MountedDirectory,
  { csiAddress, kubeletRegistrationPath: told }: RegistrarSettings,
): Statement | undefined {
  if (hostPath === undefined) return undefined;
  if (isTemplate(type))
    return unknown(`has a hostPath at ${mountPath} whose type is not filled in: ${type}`, RENDER_FIRST);
  const isDirectory = ["", "Directory", "DirectoryOrCreate"].includes(type);
  const isSocket = dirname(csiAddress) === mountPath && basename(csiAddress) === basename(hostPath);
  const fix = isSocket
    ? `write path: ${dirname(hostPath)}, type: Directory`
    : `write type: Directory for ${hostPath}`;
  if (isDirectory)
    return isSocket && told === hostPath
      ? problem(
          `mounts ${hostPath} at ${mountPath}: that is the socket, and its directory must be there`,
          fix,
        )
      : undefined;
  return problem(
    `has a hostPath of type ${type} at ${mountPath}, where a directory must be: kubelet starts no such pod, or makes a file there`,
    fix,
  );
}

/** Of a mount that has no path on the host. */
function undeclared({ volume, volumeKind, mountPath }: MountedDirectory): string | undefined {
  if (volumeKind === undefined)
    return `mounts the volume ${volume}, and its pod has no volume of that name: the API server refuses it`;
  return volumeKind === "hostPath"
    ? `has a hostPath without a path at ${mountPath}: the API server refuses it`
    : undefined;
}

const isReadOnly = (text: string) =>
  problem(`${text} read-only: no socket can be made there`, "remove readOnly from that mount");

/** By the CSI specification; nearly every driver's directory has its name. One without a dot is rather a word of something else. */
const DRIVER_NAME = /^(?=.{1,63}$)[a-z0-9][-a-z0-9]*(?:\.[-a-z0-9]+)+$/i;

const manifestRegistrationDirectory = eachRegistrar("CSI103", "manifest-registration-directory", (one) => [
  judgeRefused(one.refused),
  one.settings.map((settings) => judgeRegistrationDirectory(one, settings)),
]);

const judgeRefused = ({ pathless, backsteps, mountedTwice, namedTwice }: RegistrarContainer["refused"]) =>
  [
    ...pathless.map(
      (volume) => [`mounts the volume ${volume} without a mountPath`, "add its mountPath"] as const,
    ),
    ...backsteps.map((path) => [`has the path ${path}, with a ..`, `write ${normalize(path)}`] as const),
    ...mountedTwice.map((path) => [`has two mounts at ${path}`, "leave one of them"] as const),
    ...namedTwice.map((name) => [`has two volumes of the name ${name}`, "leave one of them"] as const),
  ].map(([text, fix]) => problem(`${text}: the API server refuses it`, fix));

function judgeRegistrationDirectory(
  { program, mounts, refused, hostPaths }: RegistrarContainer,
  settings: RegistrarSettings,
): Statement | undefined {
  const { pluginRegistrationPath: directory, kubeletRegistrationPath: told, csiAddress } = settings;
  // CSI101 judges an empty one.
  if (directory === undefined || directory === "") return undefined;
  const mount = mountOf(directory, mounts);
  if (mount === undefined && (program.kind === "unknown" || refused.pathless.length > 0)) return undefined;
  const kubeletPaths = hostPaths.filter((path) => rootIn(path) !== undefined);
  const driverPath = onHost(csiAddress, mounts) ?? told;
  const place = directory === "/" ? "at /registration, and take --plugin-registration-path out" : "there";
  const mountIt = `mount the hostPath ${directoryFor(driverPath, told, ...kubeletPaths)} ${place}`;
  if (mount === undefined) return problem(`has nothing mounted at ${directory}`, mountIt);
  const host = onHost(directory, mounts);
  if (host === undefined)
    return problem(
      undeclared(mount) ??
        `has a volume of kind ${mount.volumeKind} at ${directory}, where kubelet does not look`,
      mountIt,
    );
  const wrong = wrongType(mount, settings);
  if (wrong !== undefined) return wrong;
  if (mount.isReadOnly) return isReadOnly(`mounts ${directory}`);
  if (isTemplate(host))
    return unknown(`has a directory with a placeholder that is not filled in: ${host}`, RENDER_FIRST);
  const registry = registryOf(host);
  if (registry === undefined)
    return problem(`mounts ${host} at ${directory}, and kubelet looks in its plugins_registry only`, mountIt);
  const [name = "x"] = DRIVER_NAME.exec(basename(dirname(told))) ?? [];
  const socket = registrationSocketPath(host, name);
  const bytes = Buffer.byteLength(socket);
  // A driver may have another name than its directory.
  const say = fitsSocketPath(registrationSocketPath(host, "x")) ? warning : problem;
  if (bytes > MAX_SOCKET_PATH_BYTES)
    return say(
      `makes its socket at ${socket}, which ${tooLong(bytes)}`,
      "give kubelet a shorter --root-dir, or the driver a shorter name",
    );
  const root = onHosts(dirname(registry));
  const ofPods = kubeletPaths.filter((path) => /\/pods$/.test(path));
  const rootOf = (path: string) => rootIn(onHosts(path));
  const isOfPods = ofPods.some((path) => rootOf(path) === root);
  const other = [driverPath, ...(isOfPods ? [] : ofPods)].find((path) => (rootOf(path) ?? root) !== root);
  if (other === undefined) return ok(`makes its socket where kubelet looks: ${host}`);
  const otherRoot = rootOf(other) ?? "";
  const [tell, why] = mayBeLinked(root, otherRoot)
    ? [unknown, LINKED]
    : [problem, "a node has one kubelet root"];
  return tell(
    `registers in ${root}, and its pod has ${other}: ${why}`,
    `use one of them everywhere: ${root}, or ${otherRoot}`,
  );
}

const sayPlace = ({ volume, path }: VolumePath): string =>
  volume === undefined ? path : `volume ${volume}: ${path}`;

const manifestDriverSocket = eachRegistrar("CSI115", "manifest-driver-socket", (one) =>
  one.usable.map((settings) => judgeDriverSocket(one, settings)),
);

function judgeDriverSocket(one: RegistrarContainer, settings: RegistrarSettings): Said<Statement> {
  const { csiAddress } = settings;
  const place = placeOf(csiAddress, one.mounts);
  if (place === undefined || [isTemplate, isPattern].some((is) => is(place.path))) return undefined;
  // Then CSI102 says it.
  if (isSocketItself(csiAddress, one.mounts)) return undefined;
  return one.driverSocket.some({
    yes: ({ first }) => judgeMade(first, place, one, settings),
    no: nothing,
    unknown: ([{ subject, why }]) => {
      const open = why.kind === "flaw" ? why.at : "";
      const [variable] = /\$\([^)]*\)/.exec(open) ?? [];
      return unknown(
        `waits for ${sayPlace(place)}, and where ${subject} makes its socket is not known: ${open}`,
        variable === undefined
          ? RENDER_FIRST
          : `see where its env takes ${variable} from, or define it before its use: the socket must be ${sayPlace(place)}`,
      );
    },
  });
}

function judgeMade(
  { container, path, place: made, mount }: ItemOf<RegistrarContainer["driverSocket"]>,
  place: VolumePath,
  one: RegistrarContainer,
  { csiAddress, kubeletRegistrationPath: told }: RegistrarSettings,
): Said<Statement> {
  const others = one.mayBeDrivers.filter((name) => name !== container);
  const isMade = () => ok(`waits for the socket that container ${container} makes: ${path}`);
  if (isSamePlace(place, made))
    return !mount?.isReadOnly
      ? isMade()
      : others.contains()({
          yes: isMade,
          no: () =>
            isReadOnly(`waits for the socket of container ${container}, which mounts ${mount.mountPath}`),
          unknown: withheld,
        });
  const at = made === undefined ? `${path}, on no volume` : sayPlace(made);
  const waits = `waits for ${sayPlace(place)}, and container ${container} makes its socket at ${at}`;
  const [name, directory] = [basename(path), dirname(csiAddress)];
  // There it would hide the image.
  const isAtRoot = dirname(path) === "/";
  const [ofName, ofDirectory] =
    made?.volume === undefined && told === made?.path
      ? [`write --csi-address=${join(directory, name)}`, "correct --csi-address, or its mount"]
      : [
          `use one name for both: ${name} in --csi-address and --kubelet-registration-path`,
          isAtRoot
            ? `make its endpoint unix://${csiAddress}, with the volume of ${directory} at ${directory} in container ${container}`
            : `mount the volume of ${directory} at ${dirname(path)} in container ${container}`,
        ];
  const isBeside = made?.volume === place.volume && dirname(made?.path ?? "") === dirname(place.path);
  const compare = `compare its socket with ${sayPlace(place)}`;
  const judge = () =>
    others.some({
      yes: (all) => unknown(words`${waits}; container ${all.first} may be the driver`, compare),
      no: () => problem(waits, made !== undefined && isBeside ? ofName : ofDirectory),
      unknown: withheld,
    });
  return isWhole(one.driverSocket)({
    ...{ yes: judge, no: judge },
    unknown: () => unknown(`${waits}, unless its envFrom has another CSI_ENDPOINT`, compare),
  });
}

export const pathChecks = [manifestDriverPath, manifestRegistrationDirectory, manifestDriverSocket];
