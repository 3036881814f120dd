import { type Check, ok, problem, unknown } from "../finding";
import { MOUNT_IT } from "./registration-directory";

const COMPARE_ROOT =
  "compare with kubelet's --root-dir on the host: its plugins_registry must be what is here";

export const directoryKubelets: Check = {
  code: "CSI010",
  name: "directory-kubelets",
  verdicts: ({ directory, registrations, host }) => {
    if (directory.kind !== "folder") return undefined;
    const { path, place } = directory;
    const proof = registrations.find(({ report }) => report?.state === "registered");
    if (proof) return ok(path, `is kubelet's: it registered what is on ${proof.socket.path}`);
    if (place === undefined)
      return unknown(
        path,
        "may be kubelet's or not: this system does not tell what is mounted",
        COMPARE_ROOT,
      );
    if (place.path.includes("/kubernetes.io~empty-dir/"))
      return problem(path, "is an emptyDir volume, where kubelet does not look", MOUNT_IT);
    // Seen from its own file system, /var/lib/kubelet/plugins_registry may have lost the head of its path.
    const isNamedSo = /^\/plugins_registry$|\/kubelet\/plugins_registry$/.test(place.path);
    const others = host.otherDirectories;
    if (isNamedSo && others.length > 0)
      return unknown(
        path,
        `is ${place.path}; this node has ${others.join(", ")} too, and it cannot be seen which one kubelet uses`,
        COMPARE_ROOT,
      );
    if (isNamedSo) return ok(path, `has a path of kubelet's: ${place.path}`);
    if (place.fileSystem === "overlay")
      return problem(
        path,
        "belongs to the container: nothing is mounted there, and kubelet does not see it",
        MOUNT_IT,
        "not-kubelets",
      );
    return unknown(
      path,
      `is ${place.path} on its file system, which is not where we know a kubelet to look`,
      COMPARE_ROOT,
    );
  },
};
