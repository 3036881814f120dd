import { type Examined, judgeDrivers } from "../drivers";
import { type Check, ok, type Verdicts, warning } from "../finding";
import { SEE_DRIVER } from "../words";
import { asked } from "./asked";

export const driverReady: Check = {
  code: "CSI005",
  name: "driver-ready",
  verdicts: (facts) => judgeDrivers(facts, judge),
};

function judge({ driver, subject }: Examined): Verdicts {
  return asked(driver.probe).map((answer) => {
    switch (answer.kind) {
      case "answered":
        return (answer.value.ready?.value ?? true)
          ? ok(subject, "says that it is ready")
          : warning(subject, "says in Probe that it is not ready", `wait; if it stays so, ${SEE_DRIVER}`);
      case "late":
        return warning(subject, "does not answer Probe in time", SEE_DRIVER);
      case "failed":
        return warning(subject, `fails Probe: ${answer.code}: ${answer.message}`, SEE_DRIVER);
      case "not-asked":
        return undefined;
      default:
        return answer satisfies never;
    }
  });
}
