import { list, type Tree, text, tree } from "../../../kube-api/objects";
import { isWithin } from "../../../unix/mounts";
import { environmentOf } from "./start";

export type MountedDirectory = ReturnType<typeof mountsOf>[number];

export function mountsOf(container: Tree, pod: Tree) {
  const fill = environmentOf(container);
  const volumes = new Map(list(pod.volumes).map((volume) => [text(tree(volume).name), tree(volume)]));
  return list(container.volumeMounts)
    .map(tree)
    .map((mount) => {
      const volume = volumes.get(text(mount.name));
      const { path } = tree(volume?.hostPath);
      const subPath = text(mount.subPath) || fill(text(mount.subPathExpr)).text;
      return {
        mountPath: plainPath(text(mount.mountPath)),
        isReadOnly: mount.readOnly === true,
        volume: text(mount.name),
        subPath,
        /** The host's directory; undefined for other volumes than a hostPath. */
        hostPath: path === undefined ? undefined : plainPath(`${text(path)}/${subPath}`),
        /** `hostPath`, `emptyDir`, ...; undefined: the pod has no such volume. */
        volumeKind: Object.keys(volume ?? {}).find((key) => key !== "name"),
      };
    });
}

function plainPath(path: string): string {
  return path.replace(/\/{2,}/g, "/").replace(/(?<=[^/])\/$/, "");
}

/** The innermost mount that holds a path of the container. */
export function mountOf(path: string, mounts: readonly MountedDirectory[]): MountedDirectory | undefined {
  return mounts
    .toSorted((one, other) => other.mountPath.length - one.mountPath.length)
    .find(({ mountPath }) => isWithin(path, mountPath));
}

/** The host's path of a path in the container; undefined unless it is on a hostPath volume. */
export function onHost(path: string, mounts: readonly MountedDirectory[]): string | undefined {
  const mount = mountOf(path, mounts);
  if (mount?.hostPath === undefined) return undefined;
  const rest = mount.mountPath === "/" ? path : path.slice(mount.mountPath.length);
  return `${mount.hostPath === "/" ? "" : mount.hostPath}${rest}`;
}
