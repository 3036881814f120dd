import { judgeDriverName } from "../../../registrar/driver/driver-name";
import { check, ok, problem, unknown, type Verdict, warning } from "../../findings/finding";
import { grouped } from "../../findings/grouped";
import { LEAVE_ONE } from "../../rules/duplicates";
import type { DriverFacts, Facts } from "../read/facts";
import {
  driverLeftIn,
  isItDenied,
  isNodeDriver,
  isRegistered,
  nameTold,
  twinOf,
  unwantedReason,
  waitingIn,
} from "./matching";
import {
  DRIVER,
  downCause,
  duplicatesCause,
  nodeInfoCause,
  remedyFor,
  START_DRIVER,
  socketText,
  waitingText,
} from "./words";

export const driversFound = check("CSI020", "drivers-found", (facts: Facts) => [
  ...facts.found.map((one) => judge(one, facts)),
  ...facts.leftOut.map(({ path, fileSystem }) =>
    unknown(
      path,
      `is a mount of ${fileSystem}, whose server may not answer: it is not looked at`,
      "have the driver's socket on the node's own disk",
    ),
  ),
  ...facts.deadSockets.map(({ path }) =>
    warning(
      path,
      "fits the pattern, and no process listens on it",
      `${START_DRIVER}; remove it if its driver is gone for good`,
    ),
  ),
]);

/** Registrars as the processes of this node show them, where their own sockets do not. */
export const registrars = check("CSI024", "registrars", (facts: Facts) => {
  const bad = facts.target.csiSocketPath === undefined ? problem : warning;
  const waiting = waitingIn(facts).map((one) =>
    bad(
      "a registrar",
      waitingText(one),
      `${START_DRIVER}; or correct --csi-address, or the volume that both containers mount`,
      downCause(one.socket),
    ),
  );
  const shared = [...grouped(facts.registrars, ({ endpoint }) => endpoint)]
    .filter(([, ones]) => ones.length > 1)
    .map(([endpoint, ones]) => {
      const pids = ones.map(({ pid }) => pid).join(", ");
      const text = `has ${ones.length} registrars on this node: processes ${pids}`;
      return warning(endpoint, text, LEAVE_ONE, duplicatesCause(endpoint));
    });
  return [...waiting, ...shared];
});

function judge(driver: DriverFacts, facts: Facts): Verdict | undefined {
  const { socket } = driver;
  const { path } = socket;
  const bad = facts.target.csiSocketPath === undefined ? problem : warning;
  if (socket.kind !== "accepting") return bad(path, socketText(socket), ...remedyFor(socket));
  // Other plugins have their sockets here too. CSI003 and CSI004 judge a driver without a name or with an unsafe one.
  const name = nameTold(driver);
  if (name === undefined) return undefined;
  const because = unwantedReason(driver, facts);
  if (because !== undefined)
    return ok(path, `has the driver ${name}, not to be registered, as configured: ${because}`);
  if (judgeDriverName(name).kind === "unsafe" || !isNodeDriver(driver)) return undefined;
  const twin = twinOf(driver, facts);
  // Their registration has the name of both: where its endpoint cannot be seen, either may be the one too many.
  if (twin !== undefined)
    return bad(
      path,
      `has a driver called ${name}, as has ${twin}: only one of them can be registered`,
      "remove one of the two deployments",
      `twins ${name}`,
    );
  const { directory } = facts;
  if (isRegistered(driver, facts) || directory.kind !== "folder" || directory.unlistable) return undefined;
  // CSI015 or CSI019 judges its registration socket.
  if (facts.registrations.some((one) => driverLeftIn(one, facts) === name)) return undefined;
  return bad(
    path,
    `has the driver ${name}, for which there is no registration socket in ${directory.path}`,
    `see its registrar: does it run, or restart again and again? kubectl describe pod tells why; ${DRIVER} answers${isItDenied(facts)}`,
    nodeInfoCause(name),
  );
}
