import type { Finding, FoundObject, Status } from "./finding";

/** The reports' forms. The number grows when a field goes or changes its meaning, not when one is added. */
export const SCHEMA = "registrar.doctor/1";
export const CLUSTER_SCHEMA = "registrar.doctor.cluster/1";

export interface ReportedFinding extends Pick<Finding, "code" | "check" | "status" | "subject" | "text"> {
  /** Those that the subject names; empty where it names something else. */
  readonly objects: readonly FoundObject[];
  /** Null if there is nothing to do. */
  readonly fix: string | null;
  /** The code of the problem that causes this one; null if this one stands by itself. */
  readonly follows: string | null;
  /** The index of that problem in `findings`, which may have several with its code. */
  readonly followsIndex: number | null;
  /** Those of a cluster that have it. */
  readonly nodes?: readonly string[];
}

/** How many findings there are of each status, without those that follow from another. */
export type Summary = Readonly<Record<Status, number>>;

/** One driver of the node, wherever it was found. Null: unknown. */
export interface DriverRow {
  readonly name: string | null;
  /** The state that the registrar reports; without a report, one of the states listed in docs/doctor.md. */
  readonly state: string;
  /** When it came to that state, as RFC 3339. */
  readonly since: string | null;
  readonly reason: string | null;
  /** The driver's socket, as kubelet gets it or as it was found. */
  readonly csiSocket: string | null;
  readonly registrationSocket: string | null;
}

/** What the doctor has to say. Its JSON form is a promise to programs: see docs/doctor.md. */
export interface Report {
  readonly schema: typeof SCHEMA;
  /** Everything could be read, and no problem was found; there may be warnings, and things that cannot be seen. */
  readonly healthy: boolean;
  readonly target: unknown;
  readonly drivers: readonly DriverRow[];
  readonly summary: Summary;
  readonly findings: readonly ReportedFinding[];
}

export function reportOf(
  target: unknown,
  findings: readonly Finding[],
  drivers: readonly DriverRow[] = [],
): Report {
  const { findings: reported, healthy, summary } = reportFindings(findings);
  return { schema: SCHEMA, healthy, target, drivers, summary, findings: reported };
}

/** Says which finding follows from which, and counts them. */
export function reportFindings(findings: readonly Finding[]) {
  const reported = withFollowers(findings);
  const summary = { problem: 0, warning: 0, unknown: 0, ok: 0 };
  for (const { status, follows } of reported) if (follows === null) summary[status] += 1;
  const healthy = !findings.some(({ status, isUnread }) => status === "problem" || isUnread);
  return { findings: reported, healthy, summary };
}

/** Of the findings with one cause, the others follow from the first. */
function withFollowers(findings: readonly Finding[]): readonly ReportedFinding[] {
  const leading = new Map<string, number>();
  for (const [index, { cause }] of findings.entries())
    if (cause !== undefined && !leading.has(cause)) leading.set(cause, index);
  return findings.map(({ code, check, status, subject, text, objects = [], fix = null, cause }, index) => {
    const lead = cause === undefined ? index : (leading.get(cause) ?? index);
    const follows = lead === index ? null : (findings[lead]?.code ?? null);
    const followsIndex = follows === null ? null : lead;
    return { code, check, status, subject, text, objects, fix, follows, followsIndex };
  });
}
