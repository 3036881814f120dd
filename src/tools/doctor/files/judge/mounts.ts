import { basename, dirname, join } from "node:path/posix";
import { DEFAULT_KUBELET_ROOT, KUBELET_ROOTS } from "../../../../host-path/kubelet-roots";
import { isPattern } from "../../../../host-path/path-pattern";
import { isWithin, plainPath } from "../../../../unix/mounts";
import type { Verdicts } from "../../findings/finding";
import { doubted, type Gap, listFrom, type SeenList, type Text, words } from "../../findings/seen";
import { RENDER_FIRST, writeFlag } from "../../findings/words";
import type { ToldPaths } from "../read/arguments";
import type { DriverSocket } from "../read/driver-socket";
import { type MountedDirectory, mountOf, onHost, onHosts } from "../read/pod";
import type { RegistrarContainer } from "../read/registrars";
import { problem, unknown } from "./each-registrar";
import { placeholderIn, variableIn } from "./gaps";

export const unfilled = (what: string, gap: Gap) =>
  unknown(`has ${what} not filled in: ${placeholderIn(gap)}`, adviceOn(variableIn(gap)));
const adviceOn = (variable: string | undefined) =>
  variable === undefined ? RENDER_FIRST : `see where its env takes ${variable} from, and compare the paths`;
export const unfilledPath = (gap: Gap) => unfilled("paths with placeholders that are", gap);
export const unfilledDirectory = (gap: Gap) => unfilled("a directory with a placeholder that is", gap);

const inMicroK8s = (path: string) =>
  onHosts(path).replace(new RegExp(`^${DEFAULT_KUBELET_ROOT}(?=/|$)`), KUBELET_ROOTS.microk8s);
/** On most nodes with MicroK8s the default root is a link to its own. */
export const mayBeLinked = (one: string, other: string) => inMicroK8s(one) === inMicroK8s(other);
export const LINKED = "with MicroK8s one may be a link to the other";

export const isMountPoint = (csiAddress: string, mounts: readonly MountedDirectory[]): boolean =>
  !isPattern(csiAddress) && mountOf(csiAddress, mounts)?.mountPath === csiAddress;

/** Whether the driver's socket itself is mounted in the place of its directory. */
export const isSocket = (host: string, csiAddress: string, mountPath: string) =>
  dirname(csiAddress) === mountPath && basename(csiAddress) === basename(host);
export const mountDirectoryOf = (socket: string) => `write path: ${dirname(socket)}, type: DirectoryOrCreate`;

/** Kubelet checks the type of a hostPath before it starts the pod. `of`: whose directory is mounted there. */
export const judgeMount = (
  { type, hostPath, mountPath }: MountedDirectory,
  of: "kubelet" | Pick<ToldPaths, "csiAddress">,
  judge: () => Verdicts,
): Verdicts => {
  // On a new node nothing has made a driver's.
  const fix = `write type: ${of === "kubelet" ? "Directory" : "DirectoryOrCreate"}`;
  const fixOf = (host = "") =>
    of !== "kubelet" && isSocket(host, of.csiAddress, mountPath)
      ? mountDirectoryOf(host)
      : `${fix} for ${host}`;
  const wrong = (is: string) =>
    problem(
      `has a hostPath of type ${is} at ${mountPath}, where a directory must be: ${TYPES_OF_FILES.includes(is) ? "kubelet starts no such pod, or makes a file there" : "the API server refuses that type"}`,
      hostPath.map(fixOf).told(fix),
    );
  return type({
    seen: (is) => (["", "Directory", "DirectoryOrCreate"].includes(is) ? judge() : wrong(is)),
    unread: (gap) => unfilled(`a hostPath at ${mountPath} whose type is`, gap),
  });
};

const TYPES_OF_FILES = ["File", "FileOrCreate", "Socket", "CharDevice", "BlockDevice"];

/** The sockets that the driver makes, as far as it tells them. */
export const madeBy = ({ driverSocket }: Pick<RegistrarContainer, "driverSocket">): SeenList<DriverSocket> =>
  driverSocket.items((its) => (its.told === "one" ? its.socket : []));
/** Where it makes them. */
export const madeIn = (one: Pick<RegistrarContainer, "driverSocket">): SeenList<string> =>
  madeBy(one).flatMap(({ place }) => place?.path ?? []);

/** Of a mount at the very path of --csi-address: the socket itself is mounted, or a directory is in its place. */
export function judgeMountPoint(
  one: RegistrarContainer,
  { csiAddress, told }: ToldPaths,
  mount: MountedDirectory,
  host: string,
): Verdicts {
  const [directory, name] = [dirname(csiAddress), basename(csiAddress)];
  const isBelow = (path: string) => path !== onHosts(host) && isWithin(path, onHosts(host));
  const isFile = mount.type
    .is((type) => TYPES_OF_FILES.includes(type) || (told === host && !/^Directory/.test(type)))
    .or(basename(host) === name)
    .and(directory !== "/" && !isBelow(onHosts(told)));
  const itself = () =>
    problem(
      `mounts the driver's socket itself at ${csiAddress}: the driver makes a new file at each start, and the mount keeps the old one`,
      `mount its directory, the hostPath ${dirname(host)}, at ${directory}`,
    );
  const isFree = directory !== "/" && !one.mounts.some(({ mountPath }) => mountPath === directory);
  const fixOf = (socket: string) =>
    isFree && basename(socket) === name
      ? `write mountPath: ${directory}`
      : writeFlag("csi-address", join(csiAddress, socket.slice(onHosts(host).length)));
  const byName = () => {
    if (isFree && name.endsWith(".sock")) return `write mountPath: ${directory}`;
    return told.endsWith(".sock")
      ? writeFlag("csi-address", join(csiAddress, basename(told)))
      : "add the name of the driver's socket to --csi-address";
  };
  const inPlace = () =>
    problem(
      `has the directory ${host} mounted at --csi-address=${csiAddress}, where the driver's socket must be`,
      listFrom([onHosts(told)])
        .with(madeIn(one))
        .filter(isBelow)
        .map(fixOf)
        .told(byName()),
    );
  return isFile({ yes: itself, no: inPlace, unknown: () => doubted(itself()) });
}

export const isRelative = (host: string) => /^(?!\/)./.test(host);
export const judgeRelative = (host: string, mountPath: string) =>
  problem(
    `has the hostPath ${host} at ${mountPath}, which is not absolute`,
    `begin its path with a /: /${host}`,
  );

/** Of a mount that has no path on the host. */
export function undeclared({ volume, volumeKind, mountPath }: MountedDirectory): Text | undefined {
  if (volumeKind === undefined)
    return words`mounts the volume ${volume}, and its pod has no volume of that name: the API server refuses it`;
  return volumeKind === "hostPath"
    ? `has a hostPath without a path at ${mountPath}: the API server refuses it`
    : undefined;
}

export const isReadOnly = (text: Text) =>
  problem(words`${text} read-only: no socket can be made there`, "remove readOnly from that mount");

/** The paths at which a container sees a path of the host. */
export const addressesOf = (written: string, mounts: readonly MountedDirectory[]) => {
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
