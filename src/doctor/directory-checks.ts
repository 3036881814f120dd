import { MAX_SOCKET_PATH_BYTES } from "../sockets/socket-path";
import {
  directory,
  inotify,
  kubelet,
  kubeletPath,
  kubelets,
  selinux,
  socketPath,
  writing,
} from "./directory-situations";
import { ownershipText, tooLong } from "./driver-checks";
import { type Check, check, ok, problem, unknown, warning } from "./finding";

const MOUNT_IT =
  "mount the host's <kubelet root>/plugins_registry there, or name it with --plugin-registration-path";
const COMPARE_ROOT =
  "compare with kubelet's --root-dir on the host: its plugins_registry must be what is here";

/** Where the registration socket goes, and what kubelet is told of the driver's. */
export const DIRECTORY_CHECKS: readonly Check[] = [
  check("kubelet-path", kubeletPath, {
    "not-told": () =>
      unknown(
        "the kubelet registration path",
        "was not named",
        "give what the registrar has: --kubelet-registration-path",
      ),
    relative: ({ path }) =>
      problem(path, "is no absolute path", "give the path of the driver's socket on the host"),
    "in-registry": ({ path }) =>
      warning(
        path,
        "lies in kubelet's registration directory: kubelet takes the driver for a plugin and calls it in vain",
        "move the driver's socket to <kubelet root>/plugins/NAME/",
      ),
    "same-path": ({ path }) => ok(path, "is what kubelet is told, too"),
    "same-socket": ({ path }) => ok(path, "is the driver's socket under the path that kubelet is told"),
    "other-socket": ({ path }) =>
      problem(path, "is another socket than that of --csi-address", "make both flags name the same socket"),
    accepting: ({ path }) => ok(path, "accepts connections"),
    "not-accepting": ({ path, explanation }) =>
      problem(path, `is what kubelet is told, and does not work: ${explanation}`, "restart the driver"),
    missing: ({ path, folderInSight }) =>
      folderInSight
        ? problem(
            path,
            "is what kubelet is told, and is not there",
            "correct the path, or see whether the driver runs",
          )
        : unknown(path, "is what kubelet is told; it cannot be seen from here"),
    "not-a-socket": ({ path, fileType }) =>
      problem(path, `is ${fileType}, not a socket`, "give the socket's path"),
    "out-of-reach": ({ path, errno }) => unknown(path, `cannot be looked at: ${errno}`, "run as root"),
    "too-long": ({ path, bytes }) =>
      problem(path, tooLong(bytes), "use a shorter folder under <kubelet root>/plugins"),
  }),

  check("registration-directory", directory, {
    folder: ({ path, ownership }) => ok(path, `is a folder (${ownershipText(ownership)})`),
    missing: ({ path }) => problem(path, "is not there", MOUNT_IT),
    "not-a-folder": ({ path, fileType }) => problem(path, `is ${fileType}, not a folder`, MOUNT_IT),
    "out-of-reach": ({ path, errno }) =>
      problem(
        path,
        `cannot be read: ${errno}`,
        "run as root, as kubelet's directory is root's with mode 0750",
      ),
  }),

  check("directory-writable", writing, {
    allowed: ({ path, uid }) =>
      ok(path, `may be written to by us${uid === undefined ? "" : ` (user ID ${uid})`}`),
    "read-only": ({ path }) => problem(path, "is mounted read-only", "take readOnly off the volume mount"),
    forbidden: ({ path, errno, uid, ownership }) =>
      problem(
        path,
        `may not be written to by us: ${errno} (user ID ${uid ?? "unknown"}; ${ownershipText(ownership)})`,
        "run the registrar as root: runAsUser 0",
      ),
  }),

  check("directory-kubelets", kubelets, {
    proven: ({ path, socketPath }) => ok(path, `is kubelet's: it registered what is on ${socketPath}`),
    "named-so": ({ path, hostPath }) => ok(path, `has a path of kubelet's: ${hostPath}`),
    "one-of-several": ({ path, hostPath, others }) =>
      unknown(
        path,
        `is ${hostPath}; this node has ${others.join(", ")} too, and it cannot be seen which one kubelet uses`,
        COMPARE_ROOT,
      ),
    elsewhere: ({ path, hostPath }) =>
      unknown(
        path,
        `is ${hostPath} on its file system, which is not where we know a kubelet to look`,
        COMPARE_ROOT,
      ),
    "empty-dir": ({ path }) => problem(path, "is an emptyDir volume, where kubelet does not look", MOUNT_IT),
    "container-layer": ({ path }) =>
      problem(
        path,
        "belongs to the container: nothing is mounted there, and kubelet does not see it",
        MOUNT_IT,
      ),
    unseen: ({ path }) =>
      unknown(path, "may be kubelet's or not: this system does not tell what is mounted", COMPARE_ROOT),
  }),

  check("socket-path", socketPath, {
    fits: ({ path, bytes }) =>
      ok(path, `is short enough for a socket: ${bytes} of ${MAX_SOCKET_PATH_BYTES} bytes`),
    "too-long": ({ path, bytes }) =>
      problem(path, tooLong(bytes), "give the driver a shorter name, or kubelet a shorter --root-dir"),
  }),

  check("kubelet", kubelet, {
    running: ({ path }) => ok("kubelet", `runs: it accepts connections on ${path}`),
    dead: ({ path }) =>
      problem(
        "kubelet",
        `does not seem to run: nobody listens on its socket ${path}`,
        "see: systemctl status kubelet",
      ),
    "out-of-sight": () => unknown("kubelet", "cannot be seen from here: whether it runs is not known"),
  }),

  check("inotify", inotify, {
    room: () => ok("inotify", "has room for root's watches, so kubelet can see new sockets"),
    full: ({ limit }) =>
      problem(
        "inotify",
        `has no room for root's watches, so kubelet sees no new socket: fs.inotify.${limit} is used up`,
        `raise it: sysctl fs.inotify.${limit}=8192, or more if that is what it is`,
      ),
    failed: ({ errno }) => unknown("inotify", `could not be tried: ${errno}`),
    "other-user": () =>
      unknown("inotify", "limits are per user: whether kubelet's suffice only root can try"),
  }),

  check("selinux", selinux, {
    off: () => ok("SELinux", "is off"),
    permissive: () => ok("SELinux", "is permissive: it forbids nothing"),
    free: ({ label, mode }) =>
      ok("SELinux", `is ${mode}; we run as ${label}; labels of files cannot be seen from here`),
    confined: ({ label, mode }) =>
      warning(
        "SELinux",
        `is ${mode} and confines us (${label}): the sockets of a privileged driver may be out of our reach`,
        "if something above says EACCES, set seLinuxOptions.type: spc_t on the registrar's container",
      ),
    unknown: () => unknown("SELinux", "cannot be seen from here"),
  }),
];
