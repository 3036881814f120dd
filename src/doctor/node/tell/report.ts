import { findingsOf } from "../../findings/finding";
import { type Report, reportOf } from "../../findings/report";
import { NODE_CHECKS } from "../judge/checks";
import { driversIn } from "../judge/drivers";
import type { Facts } from "../read/facts";

/** Makes the report on the facts. The target has the names of the flags; null: not given. */
export function reportOn(facts: Facts): Report {
  const { csiSocketPath, pattern, kubeletRegistrationPath = null, pluginRegistrationPath } = facts.target;
  const csiAddress = csiSocketPath ?? pattern ?? null;
  const target = { csiAddress, kubeletRegistrationPath, pluginRegistrationPath };
  return reportOf(target, findingsOf(NODE_CHECKS, facts), driversIn(facts));
}
