import { behaviourOf } from "../../kubelet-rules/versions";
import type { Facts, RegistrationFacts } from "../facts";
import { type Check, ok, unknown, type Verdict, warning } from "../finding";
import { driverLeftIn, isTargets } from "../whose";
import { RUN_AS_ROOT, registrarDead, registrarHangs, SEE_REGISTRAR } from "../words";
import { standingOf } from "./standing";

export const otherRegistrations: Check = {
  code: "CSI019",
  name: "other-registrations",
  verdicts: (facts) => {
    const rest = facts.registrations.filter((one) => !isTargets(one, facts));
    const names = rest.flatMap(({ info }) => (info.kind === "answered" ? [info.value.name] : []));
    const verdicts = rest.map((one) => judge(one, facts));
    if (names.length === 0) return verdicts;
    return [...verdicts, ok(names.join(", "), names.length === 1 ? "answers too" : "answer too")];
  },
};

function judge(one: RegistrationFacts, facts: Facts): Verdict | undefined {
  const standing = standingOf(one);
  const { path } = standing;
  const isDrivers = driverLeftIn(one, facts) !== undefined;
  switch (standing.kind) {
    case "dead":
      if (isDrivers) return warning(path, ...registrarDead(path));
      return warning(
        path,
        "was left behind: nobody listens on it, and kubelet tries it again and again",
        "remove it if its driver is gone for good",
      );
    case "silent":
      if (isDrivers) return warning(path, ...registrarHangs(path));
      return warning(path, "does not answer GetInfo in time", SEE_REGISTRAR);
    case "failing":
      return warning(path, `fails GetInfo: ${standing.code}: ${standing.message}`, SEE_REGISTRAR);
    case "blocked":
      return warning(path, `is ${standing.fileType} in the place of a socket`, "remove it");
    case "unreachable":
      return unknown(path, `cannot be reached: ${standing.why}`, RUN_AS_ROOT);
    case "untold":
    case "told": {
      if (one.info.kind !== "answered") return undefined;
      const { type } = one.info.value;
      const known: readonly string[] = behaviourOf("1.36").pluginTypes;
      return known.includes(type)
        ? undefined
        : warning(
            path,
            `is of type "${type}", for which kubelet has no handler`,
            "remove the plugin, or correct its type",
          );
    }
    default:
      return standing satisfies never;
  }
}
