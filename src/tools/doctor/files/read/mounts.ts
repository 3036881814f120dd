import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import { isWithin } from "../../../../unix/mounts";
import { isTemplate } from "../../findings/words";
import { environmentOf, wordsOf } from "./start";

export type MountedDirectory = ReturnType<typeof mountsOf>[number];

/** The mounts of a container, the innermost of a path before the others. */
export function mountsOf(container: Tree, pod: Tree) {
  const fill = environmentOf(container);
  const volumes = new Map(list(pod.volumes).map((volume) => [text(tree(volume).name), tree(volume)]));
  return list(container.volumeMounts)
    .map(tree)
    .map((mount) => {
      const volume = volumes.get(text(mount.name));
      const { path, type } = tree(volume?.hostPath);
      const subPath = text(mount.subPath) || fill(text(mount.subPathExpr)).text;
      return {
        mountPath: plainPath(text(mount.mountPath)),
        isReadOnly: mount.readOnly === true,
        volume: text(mount.name),
        subPath,
        /** The host's directory; undefined for other volumes than a hostPath. */
        hostPath: path === undefined ? undefined : plainPath(`${text(path)}/${subPath}`),
        /** What kubelet requires the hostPath to be; empty: anything. */
        type: text(type),
        /** `hostPath`, `emptyDir` (the default), ...; undefined: the pod has no such volume. */
        volumeKind: volume && (Object.keys(volume).find((key) => key !== "name") ?? "emptyDir"),
      };
    })
    .sort((one, other) => other.mountPath.length - one.mountPath.length);
}

function plainPath(path: string): string {
  return path.replace(/\/{2,}/g, "/").replace(/(?<=[^/])\/$/, "");
}

/** The innermost mount that holds a path of the container. */
export const mountOf = (path: string, mounts: readonly MountedDirectory[]): MountedDirectory | undefined =>
  mounts.find(({ mountPath }) => isWithin(path, mountPath));

export function onHost(path: string, mounts: readonly MountedDirectory[]): string | undefined {
  const mount = mountOf(path, mounts);
  if (mount?.hostPath === undefined) return undefined;
  const rest = mount.mountPath === "/" ? path : path.slice(mount.mountPath.length);
  return `${mount.hostPath === "/" ? "" : mount.hostPath}${rest}`;
}

/** The flags that most drivers have; it may also stand in a shell's command line. */
const ENDPOINT = /(?:^|\s)--?(?:csi-)?endpoint(?:=|\s+)["']?([^\s"']+)/g;

/** The socket that one of these containers tells, or several as the same one. */
export function driverSocketOf(containers: readonly Tree[], pod: Tree) {
  const [socket, ...others] = containers.flatMap((container) => {
    const path = pathOf(endpointOf(container));
    if (path === undefined) return [];
    const place = placeOf(path, mountsOf(container, pod));
    return [{ container: text(container.name), path, place, isOpen: [path, place ?? ""].some(isTemplate) }];
  });
  const isUnclear = socket?.isOpen || others.some(({ isOpen, place }) => isOpen || place !== socket?.place);
  return isUnclear ? undefined : socket;
}

function endpointOf(container: Tree): string {
  const [, flag] = [...wordsOf(container).join(" ").matchAll(ENDPOINT)].at(-1) ?? [];
  if (flag !== undefined) return flag;
  const isGiven = list(container.env).some((one) => text(tree(one).name) === "CSI_ENDPOINT");
  return isGiven ? environmentOf(container)("$(CSI_ENDPOINT)").text : "";
}

/** Drivers take `unix://csi/csi.sock` for an absolute path, too. */
function pathOf(address: string): string | undefined {
  const [, path] = /^(?:unix:\/*|(?=\/|\$))(.+)$/s.exec(address) ?? [];
  return path && `/${path.replace(/^\/+/, "")}`;
}

/** A path on the host or in another volume; undefined for a path on no volume of the pod. */
export function placeOf(path: string, mounts: readonly MountedDirectory[]): string | undefined {
  const mount = mountOf(path, mounts);
  if (mount?.volumeKind === undefined) return undefined;
  const inVolume = `volume ${mount.volume}: ${mount.subPath}${path.slice(mount.mountPath.length)}`;
  return (onHost(path, mounts) ?? inVolume).replace(/^\/var\/run\//, "/run/");
}
