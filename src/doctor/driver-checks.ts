import type { NodeInfo } from "../grpc/protos";
import { MAX_SOCKET_PATH_BYTES } from "../sockets/socket-path";
import { asked, driverName, driverSocket, nodeInfo, readiness } from "./driver-situations";
import type { Ownership } from "./facts";
import { type Check, check, ok, problem, unknown, warning } from "./finding";

const DRIVER = "the CSI driver";
const SEE_LOG = "see the driver's log";

/** The CSI driver, asked over the socket that `--csi-address` names. */
export const DRIVER_CHECKS: readonly Check[] = [
  check("driver-socket", driverSocket, {
    accepting: ({ path, ownership }) => ok(path, `accepts connections (${ownershipText(ownership)})`),
    "not-accepting": ({ path, explanation, errno, ownership }) =>
      problem(
        path,
        `does not accept a connection (${ownershipText(ownership)}): ${explanation}`,
        errno === "EACCES" ? "run as root; on SELinux with seLinuxOptions.type spc_t" : "restart the driver",
      ),
    missing: ({ path, folderInSight }) =>
      folderInSight
        ? problem(
            path,
            "is not there, its folder is",
            "see whether the driver runs, and on which path it listens",
          )
        : problem(path, "is not there, nor is its folder", "mount the folder here, or correct --csi-address"),
    "not-a-socket": ({ path, fileType }) =>
      problem(path, `is ${fileType}, not a socket`, "name the driver's socket itself with --csi-address"),
    "out-of-reach": ({ path, errno }) =>
      problem(path, `cannot be looked at: ${errno}`, "run as root, and check the folders above it"),
    "too-long": ({ path, bytes }) =>
      problem(path, tooLong(bytes), "mount the folder under a shorter path, or link to it"),
    "not-named": () => unknown(DRIVER, "was not looked at", "name its socket: --csi-address=PATH"),
  }),

  check("driver-identity", ({ driver }) => asked(driver?.identity), {
    answered: ({ value: { name, vendorVersion } }) =>
      ok(name, `is what GetPluginInfo answers, version ${vendorVersion || "not told"}`),
    late: () =>
      problem(DRIVER, "does not answer GetPluginInfo in time", `${SEE_LOG}: it hangs or is still starting`),
    failed: ({ code, message }) =>
      problem(
        DRIVER,
        `fails GetPluginInfo: ${code}: ${message}`,
        code === "Unimplemented" ? "correct --csi-address: what listens there is no CSI driver" : SEE_LOG,
      ),
    "not-asked": () => unknown(DRIVER, "could not be asked for its name, readiness and node information"),
  }),

  check("driver-name", driverName, {
    valid: ({ name }) => ok(name, "is a legal name"),
    unusual: ({ name, problem: what }) =>
      problem(
        name,
        `is no legal name: ${what}`,
        "give the driver another name: the API server refuses this one",
      ),
    unsafe: ({ name, problem: what }) =>
      problem(
        name,
        `cannot be registered: ${what}`,
        "give the driver another name: no registrar can use this one",
      ),
  }),

  check("driver-ready", readiness, {
    ready: () => ok(DRIVER, "says that it is ready"),
    starting: () => warning(DRIVER, "says in Probe that it is not ready", `wait; if it stays so, ${SEE_LOG}`),
    late: () => warning(DRIVER, "does not answer Probe in time", SEE_LOG),
    failed: ({ code, message }) => warning(DRIVER, `fails Probe: ${code}: ${message}`, SEE_LOG),
    "not-asked": null,
  }),

  check("driver-node-info", nodeInfo, {
    good: ({ info }) => ok(info.nodeId, `is its node ID; ${placeText(info)}`),
    "no-node-id": () =>
      problem(
        DRIVER,
        "answers NodeGetInfo with an empty node ID, which kubelet refuses",
        "tell the driver its node's name, as its own documentation says: often by an environment variable",
      ),
    refused: ({ why }) =>
      problem(
        DRIVER,
        `answers NodeGetInfo with what the API server refuses: ${why}`,
        "correct the driver's settings",
      ),
    late: () =>
      problem(
        DRIVER,
        "does not answer NodeGetInfo in time; kubelet waits 2 minutes for it, then refuses the driver",
        `${SEE_LOG}: it may not reach what tells it about its node; --timeout gives it more time here`,
      ),
    failed: ({ code, message }) =>
      problem(
        DRIVER,
        `fails NodeGetInfo, and kubelet refuses it: ${code}: ${message}`,
        code === "Unimplemented"
          ? "name the socket of the driver's node plugin, not the controller's"
          : SEE_LOG,
      ),
    "not-asked": null,
  }),
];

/** What is wrong with a path of so many bytes. */
export function tooLong(bytes: number): string {
  return `has ${bytes} bytes, a unix socket path may have ${MAX_SOCKET_PATH_BYTES}`;
}

/** `mode 0755, owner 0:0`. */
export function ownershipText({ mode, uid, gid }: Ownership): string {
  return `mode ${mode.toString(8).padStart(4, "0")}, owner ${uid}:${gid}`;
}

function placeText({ maxVolumesPerNode, accessibleTopology }: NodeInfo): string {
  const segments = Object.entries(accessibleTopology?.segments ?? {}).map(
    ([key, value]) => `${key}=${value}`,
  );
  const topology = segments.length > 0 ? `topology ${segments.join(", ")}` : "no topology";
  return `${topology}; ${maxVolumesPerNode > 0 ? `at most ${maxVolumesPerNode} volumes` : "any number of volumes"}`;
}
