import { basename, dirname } from "node:path/posix";
import { isPattern } from "../../../host-path/path-pattern";
import { isTemplate } from "../../rules/words";
import { type DriverSocket, placeOf, type SocketPlace } from "../read/driver-socket";
import { eachDeployment, ok, problem, type Statement } from "./each-deployment";

/** Says nothing of pods with several registrars or sockets: whose is whose is not known. */
export const manifestDriverSocket = eachDeployment("CSI115", "manifest-driver-socket", (one) => {
  const { unseen, settings, mounts, pod } = one;
  const { csiAddress, refusal } = settings;
  const [socket] = pod.driverSockets;
  const place = placeOf(csiAddress, mounts);
  const isKnown = ![csiAddress, place?.directory ?? ""].some((path) => isTemplate(path) || isPattern(path));
  if (!isKnown || place === undefined || unseen !== undefined || refusal !== undefined) return undefined;
  if (socket === undefined || pod.registrars > 1 || !pod.driverSockets.every((other) => other.isKnown))
    return undefined;
  return pod.driverSockets.every((other) => isSame(socket.place, other.place))
    ? judgeSocket(csiAddress, place, socket)
    : undefined;
});

function isSame(one: SocketPlace | undefined, other: SocketPlace | undefined): boolean {
  return one?.directory === other?.directory && one?.file === other?.file;
}

function judgeSocket(
  csiAddress: string,
  place: SocketPlace,
  { container, path, place: made }: DriverSocket,
): Statement {
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
