import { behaviourOf } from "../../../kubelet-rules/versions";
import { check, ok, unknown, type Verdict, warning } from "../../findings/finding";
import type { Facts, RegistrationFacts } from "../facts";
import { answerIn, driverLeftIn, isTargets } from "../matching";
import { troubleOf } from "../trouble";
import { RUN_AS_ROOT } from "../words";

export const otherRegistrations = check("CSI019", "other-registrations", (facts: Facts) => {
  const rest = facts.registrations.filter((one) => !isTargets(one, facts));
  const names = rest.flatMap(({ info }) => answerIn(info)?.name ?? []);
  const verdicts = rest.map((one) => judge(one, facts));
  if (names.length === 0) return verdicts;
  return [...verdicts, ok(names.join(", "), names.length === 1 ? "answers too" : "answer too")];
});

function judge(one: RegistrationFacts, facts: Facts): Verdict | undefined {
  const { path } = one.socket;
  if (one.info.kind !== "answered") {
    const { text, fix, unseen } = troubleOf(one, driverLeftIn(one, facts) !== undefined);
    return unseen === undefined ? warning(path, text, fix) : unknown(path, text, RUN_AS_ROOT);
  }
  const { type } = one.info.value;
  const known: readonly string[] = behaviourOf("1.36").pluginTypes;
  if (known.includes(type)) return undefined;
  const text = `is of type "${type}", for which kubelet has no handler`;
  return warning(path, text, "remove the plugin, or correct its type");
}
