import type { Facts } from "../facts";
import { type Check, ok, problem, unknown, unread, type Verdict } from "../finding";
import { DRIVER, ownershipText, RUN_AS_ROOT, remedyFor, START_DRIVER, tooLong } from "../words";

export const driverSocket: Check = {
  code: "CSI002",
  name: "driver-socket",
  verdicts: judge,
};

function judge({ driver, target }: Facts): Verdict {
  const socket = driver?.socket;
  if (socket === undefined) {
    const { patterns = [] } = target;
    return patterns.length > 0
      ? ok(patterns.join(" "), "is a pattern: each socket that fits is looked at")
      : unknown(DRIVER, "was not named: those that are found on this node are looked at");
  }
  const { path } = socket;
  switch (socket.kind) {
    case "accepting":
      return ok(path, `accepts connections (${ownershipText(socket.ownership)})`);
    case "not-accepting":
      return socket.errno === "EACCES"
        ? unread(
            path,
            `may not be connected to by this user (${ownershipText(socket.ownership)}): ${socket.explanation}`,
            `${RUN_AS_ROOT}; if it is root already, SELinux may be in the way: seLinuxOptions.type spc_t`,
          )
        : problem(
            path,
            `does not accept a connection (${ownershipText(socket.ownership)}): ${socket.explanation}`,
            ...remedyFor(socket),
          );
    case "missing":
      return socket.folderInSight
        ? problem(path, "is not there, its folder is", START_DRIVER, `missing ${path}`)
        : problem(
            path,
            "is not there, nor is its folder",
            "mount the folder here, or correct --csi-address",
            `missing ${path}`,
          );
    case "not-a-socket":
      return problem(
        path,
        `is ${socket.fileType}, not a socket`,
        "name the driver's socket itself with --csi-address",
      );
    case "out-of-reach":
      return unread(
        path,
        `cannot be looked at: ${socket.errno}`,
        `${RUN_AS_ROOT}, and check the folders above it`,
      );
    case "too-long":
      return problem(path, tooLong(socket.bytes), "mount the folder under a shorter path, or link to it");
    default:
      return socket satisfies never;
  }
}
