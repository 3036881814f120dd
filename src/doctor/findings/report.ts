import type { Finding, Status } from "./finding";

/** Which form the report has: it grows by one when a field goes or means something else, not when one is added. */
export const SCHEMA = "registrar.doctor/1";

/** A finding as it is reported. */
export interface ReportedFinding {
  readonly code: string;
  readonly check: string;
  readonly status: Status;
  readonly subject: string;
  readonly text: string;
  /** Null where there is nothing to do. */
  readonly fix: string | null;
  /** The code of the problem that this one follows from: with that fixed, it goes. Null where it stands by itself. */
  readonly follows: string | null;
  /** Where that problem stands in `findings`: there may be several with its code. Null where it stands by itself. */
  readonly followsIndex: number | null;
}

/** How many findings there are of each status; of problems and warnings, those that do not follow from another. */
export type Summary = Readonly<Record<Status, number>>;

/** One driver of the node, wherever it was found. Null: unknown. */
export interface DriverRow {
  /** Null where it does not tell its name. */
  readonly name: string | null;
  /**
   * The state that its registrar tells; `untold` where the registrar tells none, as the official one; `unpublished` where it
   * has no registration socket, `not-wanted` where it is to have none. Where the registrar does not answer, the socket's
   * name tells the driver's: `dead` where nobody listens, `hanging` where the answer does not come in time, else `unknown`,
   * as where the registration directory cannot be read.
   */
  readonly state: string;
  /** When it came to that state, as RFC 3339. */
  readonly since: string | null;
  readonly reason: string | null;
  /** The driver's socket, as kubelet gets it or as it was found. */
  readonly csiSocket: string | null;
  readonly registrationSocket: string | null;
}

/** What the doctor has to say. Its JSON form is a promise to programs: see docs/doctor.md. */
export interface Report<Target = unknown> {
  readonly schema: typeof SCHEMA;
  /** Everything could be read, and no problem was found; there may be warnings, and things that cannot be seen. */
  readonly healthy: boolean;
  readonly target: Target;
  readonly drivers: readonly DriverRow[];
  readonly summary: Summary;
  readonly findings: readonly ReportedFinding[];
}

/** Puts findings into the form of a report. */
export function reportOf<Target>(
  target: Target,
  findings: readonly Finding[],
  drivers: readonly DriverRow[] = [],
): Report<Target> {
  const { findings: reported, healthy, summary } = reportFindings(findings);
  return { schema: SCHEMA, healthy, target, drivers, summary, findings: reported };
}

/** Says of findings which follows from which, and counts them. */
export function reportFindings(findings: readonly Finding[]): {
  readonly findings: readonly ReportedFinding[];
  readonly healthy: boolean;
  readonly summary: Summary;
} {
  const reported = withFollowers(findings);
  const count = (status: Status) =>
    reported.filter((finding) => finding.status === status && finding.follows === null).length;
  return {
    findings: reported,
    healthy: !findings.some(({ status, isUnread }) => status === "problem" || isUnread),
    summary: {
      problem: count("problem"),
      warning: count("warning"),
      unknown: count("unknown"),
      ok: count("ok"),
    },
  };
}

/** Of the problems and warnings with one cause, the first is the one to fix, and the others follow from it. */
function withFollowers(findings: readonly Finding[]): readonly ReportedFinding[] {
  const leading = new Map<string, number>();
  for (const [index, { cause }] of findings.entries())
    if (cause !== undefined && !leading.has(cause)) leading.set(cause, index);
  return findings.map(({ code, check, status, subject, text, fix = null, cause }, index) => {
    const lead = cause === undefined ? index : (leading.get(cause) ?? index);
    const follows = lead === index ? null : (findings[lead]?.code ?? null);
    const followsIndex = follows === null ? null : lead;
    return { code, check, status, subject, text, fix, follows, followsIndex };
  });
}
