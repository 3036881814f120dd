import { judgeDriverName } from "../../registrar/driver/driver-name";
import { type Examined, judgeDrivers } from "../drivers";
import { type Check, ok, problem, type Verdicts } from "../finding";
import { nameTold } from "../whose";

export const driverName: Check = {
  code: "CSI004",
  name: "driver-name",
  verdicts: (facts) => judgeDrivers(facts, judge),
};

function judge({ driver }: Examined): Verdicts {
  const name = nameTold(driver);
  if (name === undefined) return undefined;
  const verdict = judgeDriverName(name);
  switch (verdict.kind) {
    case "valid":
      return ok(name, "is a legal name");
    case "unusual":
      return problem(
        name,
        `is no legal name: ${verdict.problem}`,
        "give the driver another name: the API server refuses this one",
      );
    case "unsafe":
      return problem(
        name,
        `cannot be registered: ${verdict.problem}`,
        "give the driver another name: no registrar can use this one",
      );
    default:
      return verdict satisfies never;
  }
}
