import { judgeDriverName } from "../../../registrar/driver/driver-name";
import { type Check, ok, problem, type Verdict, warning } from "../../findings/finding";
import { isRegistered, nodeInfoCause, twinOf, unwantedReason } from "../drivers";
import type { DriverFacts, Facts } from "../facts";
import { driverLeftIn, hasNodeService, nameTold } from "../whose";
import { DRIVER, IS_IT_DENIED, isStuck, remedyFor, START_DRIVER, socketText } from "../words";

export const driversFound: Check<Facts> = {
  code: "CSI020",
  name: "drivers-found",
  verdicts: (facts) => [
    ...facts.found.map((one) => judge(one, facts)),
    ...facts.deadSockets.map((socket) =>
      warning(
        socket.path,
        "fits the pattern, and nobody listens on it",
        `${START_DRIVER}; remove it if its driver is gone for good`,
      ),
    ),
  ],
};

function judge(driver: DriverFacts, facts: Facts): Verdict | undefined {
  const { path } = driver.socket;
  const bad = facts.target.csiSocketPath === undefined ? problem : warning;
  if (isStuck(driver.socket))
    return bad(path, `accepts no connection: ${socketText(driver.socket)}`, ...remedyFor(driver.socket));
  // Other plugins have their sockets here too, and of a driver without a name or with an unsafe one CSI003 and CSI004 tell.
  const name = nameTold(driver);
  if (name === undefined) return undefined;
  const because = unwantedReason(driver, facts);
  if (because !== undefined)
    return ok(path, `has the driver ${name}, not to be registered, as configured: ${because}`);
  if (judgeDriverName(name).kind === "unsafe") return undefined;
  // A controller has no node service, and is not to be registered.
  if (!hasNodeService(driver)) return undefined;
  const twin = twinOf(driver, facts);
  // Their registration has the name of both: where its endpoint cannot be seen, either may be the one too many.
  if (twin !== undefined)
    return bad(
      path,
      `has a driver called ${name}, as has ${twin}: only one of them can be registered`,
      "remove one of the two deployments",
      `twins ${name}`,
    );
  if (isRegistered(driver, facts) || facts.directory.kind !== "folder" || facts.directory.unlistable)
    return undefined;
  // CSI015 or CSI019 tells of it.
  if (facts.registrations.some((one) => driverLeftIn(one, facts) === name)) return undefined;
  return bad(
    path,
    `has the driver ${name}, for which there is no registration socket in ${facts.directory.path}`,
    `see its registrar: does it run, or restart again and again? kubectl describe pod tells why; ${DRIVER} answers; ${IS_IT_DENIED}`,
    nodeInfoCause(name),
  );
}
