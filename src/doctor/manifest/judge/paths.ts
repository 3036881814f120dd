import { basename, dirname } from "node:path/posix";
import { isPattern, matchSegments, segmentsOf } from "../../../host-path/path-pattern";
import { list, text, tree } from "../../../kube-api/objects";
import { registrationSocketPath } from "../../../registrar/socket/socket-name";
import { fitsSocketPath, MAX_SOCKET_PATH_BYTES } from "../../../unix/socket-path";
import {
  directoryFor,
  isRegistrationDirectory,
  judgeDriverPlace,
  rootIn,
} from "../../findings/registration-directory";
import { isTemplate, RENDER_FIRST, tooLong } from "../../findings/words";
import type { Deployment } from "../read/deployments";
import {
  type DriverSocket,
  type MountedDirectory,
  mountOf,
  onHost,
  placeOf,
  type SocketPlace,
} from "../read/mounts";
import { joinedIn } from "./arguments";
import { eachDeployment, ok, problem, type Statement, unknown, warning } from "./each-deployment";

interface Paths {
  readonly csiAddress: string;
  readonly told: string;
  /** What to do if kubelet gets another path than the socket's on the host. */
  readonly advice: string;
}

const manifestDriverPath = eachDeployment("CSI102", "manifest-driver-path", (deployment) => {
  const { place, unseen, settings, literals, mounts } = deployment;
  const { csiAddress, kubeletRegistrationPath: told, refusal } = settings;
  if (unseen !== undefined || refusal !== undefined || told === "" || joinedIn(deployment)) return undefined;
  if (literals.length > 0)
    return literals.map(({ name, why, advice }) =>
      problem(`takes $(${name}), ${why}: it stays as it is`, advice),
    );
  if (!csiAddress.startsWith("/") && !isTemplate(csiAddress))
    return warning(
      `has --csi-address=${csiAddress}, relative to the directory in which the container starts: where that is on the host is not known`,
      "write an absolute path",
    );
  const advice = `write --kubelet-registration-path=${onHost(csiAddress, mounts)}`;
  const matches = pathsBelow(csiAddress, told, mounts);
  const isOnlyBelow = matches.length > 0 && mountOf(csiAddress, mounts) === undefined;
  const all = isOnlyBelow ? matches : [{ csiAddress, told, advice }, ...matches];
  return all.map((paths) => judgePaths(paths, mounts, place));
});

/** The paths in each mount that fits a pattern up to one of its stars. */
function pathsBelow(csiAddress: string, told: string, mounts: readonly MountedDirectory[]): readonly Paths[] {
  const segments = segmentsOf(csiAddress);
  return mounts.flatMap(({ mountPath, hostPath }) => {
    const names = segmentsOf(mountPath);
    const stars = matchSegments(segments, names) ?? [];
    if (stars.length === 0) return [];
    const rest = segments.slice(names.length);
    const toldNames = told.split("/");
    const directory = toldNames.slice(0, toldNames.length - rest.length).join("/");
    const fill = (path: string) => stars.reduce((text, star) => text.replace("*", () => star), path);
    const advice =
      hostPath === fill(directory)
        ? `write --kubelet-registration-path=${[directory, ...rest].join("/")}`
        : `mount the hostPath ${fill(directory)} at ${mountPath}`;
    return { csiAddress: [mountPath, ...rest].join("/"), told: fill(told), advice };
  });
}

function judgePaths({ csiAddress, told, advice }: Paths, mounts: readonly MountedDirectory[], place: string) {
  const mount = mountOf(csiAddress, mounts);
  if (mount === undefined)
    return problem(
      `has nothing mounted where --csi-address=${csiAddress} is`,
      isPattern(csiAddress)
        ? `mount the hostPath ${directoryOf(told)} at ${directoryOf(csiAddress)}`
        : `mount the driver's hostPath volume at ${directoryOf(csiAddress)}`,
    );
  if (mount.volumeKind === undefined)
    return problem(`mounts the volume ${mount.volume}, which the pod does not have`, "add that volume");
  const expected = onHost(csiAddress, mounts);
  if (expected === undefined)
    return problem(
      `has the driver's socket in a volume of kind ${mount.volumeKind}, where kubelet cannot reach it`,
      "make it a hostPath: <kubelet root>/plugins/NAME",
    );
  const template = [told, expected].find(isTemplate);
  if (template !== undefined)
    return unknown(`has paths with placeholders that are not filled in: ${template}`, RENDER_FIRST);
  if (!fitsSocketPath(told))
    return problem(
      `tells kubelet ${told}, which ${tooLong(Buffer.byteLength(told))}`,
      "use a shorter directory",
    );
  if (told.replace(/\/{2,}/g, "/") !== expected)
    return problem(`tells kubelet ${told}, but on the host the driver's socket is ${expected}`, advice);
  return (
    (isPattern(told) ? undefined : judgeDriverPlace(told, place, "has the driver's socket")) ??
    ok(`tells kubelet where the driver's socket is on the host: ${told}`)
  );
}

function directoryOf(path: string): string {
  const [certain = ""] = path.split("*");
  return certain.slice(0, certain.lastIndexOf("/")) || "/";
}

const manifestRegistrationDirectory = eachDeployment(
  "CSI103",
  "manifest-registration-directory",
  judgeDirectory,
);

function judgeDirectory({ unseen, program, settings, mounts, pod, source }: Deployment) {
  if (unseen !== undefined) return undefined;
  const { pluginRegistrationPath: directory, kubeletRegistrationPath: told, csiAddress } = settings;
  const kubeletPaths = list(source.pod.volumes)
    .map((volume) => text(tree(tree(volume).hostPath).path).replace(/(?<=[^/])\/+$/, ""))
    .filter((path) => rootIn(path) !== undefined);
  const driverPath = onHost(csiAddress, mounts) ?? told;
  const mountIt = `mount the hostPath ${directoryFor(driverPath, told, ...kubeletPaths)} there`;
  const mount = mountOf(directory, mounts);
  if (mount === undefined && program.kind === "unknown") return undefined;
  if (mount === undefined) return problem(`has nothing mounted at ${directory}`, mountIt);
  if (mount.hostPath === undefined)
    return problem(
      `has a volume of kind ${mount.volumeKind ?? "none"} at ${directory}, where kubelet does not look`,
      mountIt,
    );
  if (mount.isReadOnly)
    return problem(
      `mounts ${directory} read-only: no socket can be made there`,
      "take readOnly off that mount",
    );
  const host = onHost(directory, mounts) ?? "";
  if (isTemplate(host))
    return unknown(`has a directory with a placeholder that is not filled in: ${host}`, RENDER_FIRST);
  if (!isRegistrationDirectory(host))
    return problem(`mounts ${host} at ${directory}, and kubelet looks in its plugins_registry only`, mountIt);
  const [name] = pod.driverNames;
  const bytes = Buffer.byteLength(registrationSocketPath(host, name ?? "x"));
  if (bytes > MAX_SOCKET_PATH_BYTES)
    return problem(
      `makes its socket in ${host}, where ${name === undefined ? "the shortest name" : `${name}-reg.sock`} ${tooLong(bytes)}`,
      `give kubelet a shorter --root-dir${name === undefined ? "" : ", or the driver a shorter name"}`,
    );
  return judgeRoots(host, rootIn(driverPath), kubeletPaths);
}

/** A node has one kubelet root. */
function judgeRoots(host: string, ofDriver: string | undefined, paths: readonly string[]): Statement {
  const root = dirname(host);
  const ofPods = paths.filter((path) => /\/pods$/.test(path));
  const oneOf = (other: string) => {
    const rest = ofPods.find((path) => rootIn(path) === root) ?? ofPods[0];
    return rest === undefined
      ? `use one of them everywhere: ${root}, or ${other}`
      : `use one everywhere: the pod mounts ${rest}`;
  };
  if (ofDriver !== undefined && ofDriver !== root)
    return problem(
      `registers in ${root} and has the driver's socket in ${ofDriver}: a node has one kubelet root`,
      oneOf(ofDriver),
    );
  const [other] = ofPods.some((path) => rootIn(path) === root) ? [] : ofPods;
  return other === undefined
    ? ok(`makes its socket where kubelet looks: ${host}`)
    : problem(
        `registers in ${root}, and its pod mounts ${other}: a node has one kubelet root`,
        `use one of them everywhere: ${root}, or ${dirname(other)}`,
      );
}

/** Says nothing of pods with several registrars or sockets: whose is whose is not known. */
const manifestDriverSocket = eachDeployment("CSI115", "manifest-driver-socket", (one) => {
  const { unseen, settings, mounts, pod } = one;
  const { csiAddress, refusal, kubeletRegistrationPath: told } = settings;
  const [socket] = pod.driverSockets;
  const place = placeOf(csiAddress, mounts);
  const isKnown = ![csiAddress, place?.directory ?? ""].some((path) => isTemplate(path) || isPattern(path));
  if (!isKnown || place === undefined || told === "") return undefined;
  if (unseen !== undefined || refusal !== undefined || joinedIn(one)) return undefined;
  if (socket === undefined || pod.registrars > 1 || !pod.driverSockets.every((other) => other.isKnown))
    return undefined;
  return pod.driverSockets.every((other) => isSame(socket.place, other.place))
    ? judgeSocket(csiAddress, place, socket)
    : undefined;
});

function isSame(one: SocketPlace | undefined, other: SocketPlace | undefined): boolean {
  return one?.directory === other?.directory && one?.file === other?.file;
}

function judgeSocket(csiAddress: string, place: SocketPlace, { container, path, place: made }: DriverSocket) {
  if (isSame(place, made)) return ok(`waits for the socket that container ${container} makes: ${path}`);
  const waits = `waits for ${place.directory}/${place.file}`;
  const mountIt = `mount the volume of ${dirname(csiAddress)} at ${dirname(path)} in container ${container}`;
  if (made === undefined)
    return problem(
      `${waits}, and container ${container} makes its socket in ${dirname(path)}, where it has no volume`,
      mountIt,
    );
  return problem(
    `${waits}, and container ${container} makes its socket at ${made.directory}/${made.file}`,
    made.directory === place.directory
      ? `use one name for both: ${basename(path)} in --csi-address and --kubelet-registration-path`
      : mountIt,
  );
}

export const pathChecks = [manifestDriverPath, manifestRegistrationDirectory, manifestDriverSocket];
