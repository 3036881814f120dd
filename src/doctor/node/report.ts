import { findingsOf } from "../findings/finding";
import { type Report, reportOf } from "../findings/report";
import { NODE_CHECKS } from "./checks";
import { driversIn } from "./drivers";
import type { Facts } from "./facts";

/** What was looked at, by the names of the flags; null if not given. */
export interface NodeTarget {
  readonly csiAddress: string | null;
  readonly kubeletRegistrationPath: string | null;
  readonly pluginRegistrationPath: string;
}

/** Makes the report on what was seen. */
export function reportOn(facts: Facts): Report<NodeTarget> {
  const { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath, patterns = [] } = facts.target;
  const target: NodeTarget = {
    csiAddress: csiSocketPath ?? patterns[0] ?? null,
    kubeletRegistrationPath: kubeletRegistrationPath ?? null,
    pluginRegistrationPath,
  };
  return reportOf(target, findingsOf(NODE_CHECKS, facts), driversIn(facts));
}
