import { type Examined, judgeDrivers } from "../drivers";
import { type Check, ok, problem, unknown, type Verdicts } from "../finding";
import { DRIVER_HANGS, namelessCause, SEE_DRIVER } from "../words";
import { asked } from "./asked";

export const driverIdentity: Check = {
  code: "CSI003",
  name: "driver-identity",
  verdicts: (facts) => judgeDrivers(facts, judge),
};

function judge({ driver, subject }: Examined): Verdicts {
  return asked(driver.identity).map((answer) => {
    const cause = namelessCause(driver.socket);
    switch (answer.kind) {
      case "answered": {
        const { name, vendorVersion } = answer.value;
        return ok(
          name,
          `is what ${subject} answers to GetPluginInfo, version ${vendorVersion || "not told"}`,
        );
      }
      case "late":
        return problem(subject, "does not answer GetPluginInfo in time", DRIVER_HANGS, cause);
      case "failed":
        return problem(
          subject,
          `fails GetPluginInfo: ${answer.code}: ${answer.message}`,
          answer.code === "Unimplemented"
            ? "correct --csi-address: what listens there is no CSI driver"
            : SEE_DRIVER,
          cause,
        );
      case "not-asked":
        return unknown(subject, "could not be asked for its name, readiness and node information");
      default:
        return answer satisfies never;
    }
  });
}
