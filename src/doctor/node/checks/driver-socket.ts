import { type Check, ok, problem, unknown, type Verdict } from "../../findings/finding";
import type { Facts } from "../facts";
import { DRIVER, judgeClosed, ownershipText, START_DRIVER } from "../words";

export const driverSocket: Check<Facts> = {
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
  if (socket.kind === "accepting")
    return ok(path, `accepts connections (${ownershipText(socket.ownership)})`);
  return judgeClosed(socket, {
    lead: "",
    missing: (folderInSight) =>
      folderInSight
        ? problem(path, "is not there, its folder is", START_DRIVER, `missing ${path}`)
        : problem(
            path,
            "is not there, nor is its folder",
            "mount the folder here, or correct --csi-address",
            `missing ${path}`,
          ),
    noSocketFix: "name the driver's socket itself with --csi-address",
    tooLongFix: "mount the folder under a shorter path, or link to it",
  });
}
