import { examine } from "./checks";
import type { Facts } from "./facts";
import type { Finding, Status } from "./finding";

/** What the doctor has to say. Its JSON form is a promise to programs: see the help of `registrar doctor`. */
export interface Report {
  /** No problem was found; there may be warnings, and things that cannot be seen. */
  readonly healthy: boolean;
  /** What was looked at, by the names of the flags; null where nobody said it. */
  readonly target: {
    readonly csiAddress: string | null;
    readonly kubeletRegistrationPath: string | null;
    readonly pluginRegistrationPath: string;
  };
  /** How many findings there are of each status. */
  readonly summary: Readonly<Record<Status, number>>;
  readonly findings: readonly (Omit<Finding, "cure"> & { readonly cure: string | null })[];
}

/** Makes the report on what was seen. */
export function reportOn(facts: Facts): Report {
  const findings = examine(facts);
  const count = (status: Status) => findings.filter((finding) => finding.status === status).length;
  const { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath } = facts.target;
  return {
    healthy: count("problem") === 0,
    target: {
      csiAddress: csiSocketPath ?? null,
      kubeletRegistrationPath: kubeletRegistrationPath ?? null,
      pluginRegistrationPath,
    },
    summary: {
      problem: count("problem"),
      warning: count("warning"),
      unknown: count("unknown"),
      ok: count("ok"),
    },
    findings: findings.map(({ check, status, subject, text, cure }) => ({
      check,
      status,
      subject,
      text,
      cure: cure ?? null,
    })),
  };
}
