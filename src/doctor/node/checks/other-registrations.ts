import { behaviourOf } from "../../../kubelet-rules/versions";
import { type Check, ok, unknown, type Verdict, warning } from "../../findings/finding";
import type { Facts, RegistrationFacts } from "../facts";
import { standingOf } from "../standing";
import { driverLeftIn, isTargets } from "../whose";
import { RUN_AS_ROOT } from "../words";

export const otherRegistrations: Check<Facts> = {
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
  const standing = standingOf(one, driverLeftIn(one, facts) !== undefined);
  const { path } = standing;
  if (standing.kind === "broken")
    return standing.unseen === undefined
      ? warning(path, standing.text, standing.fix)
      : unknown(path, standing.text, RUN_AS_ROOT);
  const type = one.info.kind === "answered" ? one.info.value.type : "";
  const known: readonly string[] = behaviourOf("1.36").pluginTypes;
  return known.includes(type)
    ? undefined
    : warning(
        path,
        `is of type "${type}", for which kubelet has no handler`,
        "remove the plugin, or correct its type",
      );
}
