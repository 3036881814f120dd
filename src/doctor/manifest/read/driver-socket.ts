import { dirname } from "node:path/posix";
import { list, type Tree, text, tree } from "../../../kube-api/objects";
import { isTemplate } from "../../rules/words";
import { type MountedDirectory, mountOf, mountsOf, onHost } from "./mounts";
import { environmentOf, wordsOf } from "./start";

/** The socket on which a driver's container listens. */
export interface DriverSocket {
  readonly container: string;
  /** As the container sees it. */
  readonly path: string;
  /** Undefined: on no volume, or it cannot be known. */
  readonly place: SocketPlace | undefined;
  readonly isKnown: boolean;
}

/** Where a socket is, for every container of the pod alike. */
export interface SocketPlace {
  /** The directory on the host, or in another volume. */
  readonly directory: string;
  readonly file: string;
}

/** The flags that most drivers have; it may also stand in a shell's command line. */
const ENDPOINT = /(?:^|\s)--?(?:csi-)?endpoint(?:=|\s+)["']?([^\s"']+)/g;

/** The sockets of these containers, except those that they do not tell. */
export function driverSocketsOf(containers: readonly Tree[], pod: Tree): readonly DriverSocket[] {
  return containers.flatMap((container) => {
    const address = endpointOf(container);
    const path = address === undefined ? undefined : pathOf(address);
    if (path === undefined) return [];
    const mounts = mountsOf(container, pod);
    const place = placeOf(path, mounts);
    const isKnown = ![path, place?.directory ?? ""].some(isTemplate);
    return [{ container: text(container.name), path, place, isKnown }];
  });
}

function endpointOf(container: Tree): string | undefined {
  const [, flag] = [...wordsOf(container).join(" ").matchAll(ENDPOINT)].at(-1) ?? [];
  if (flag !== undefined) return flag;
  const isGiven = list(container.env).some((one) => text(tree(one).name) === "CSI_ENDPOINT");
  return isGiven ? environmentOf(container)("$(CSI_ENDPOINT)").text : undefined;
}

/** Drivers take `unix://csi/csi.sock` for an absolute path, too. */
function pathOf(address: string): string | undefined {
  const [, path] = /^(?:unix:\/*|(?=\/|\$))(.+)$/s.exec(address) ?? [];
  return path && `/${path.replace(/^\/+/, "")}`;
}

/** Undefined for a path on no volume of the pod. */
export function placeOf(path: string, mounts: readonly MountedDirectory[]): SocketPlace | undefined {
  const mount = mountOf(path, mounts);
  if (mount?.volumeKind === undefined) return undefined;
  const inVolume = `volume ${mount.volume}: ${mount.subPath}${path.slice(mount.mountPath.length)}`;
  const whole = (onHost(path, mounts) ?? inVolume).replace(/^\/var\/run\//, "/run/");
  return { directory: dirname(whole), file: whole.slice(whole.lastIndexOf("/") + 1) };
}
