/** One run of ginkgo in one cluster. */
export interface Plan {
  readonly tests: string;
  readonly ginkgo: string;
  /** A directory for the report and for what the run needs. */
  readonly reports: string;
  readonly snapshotObjects: string;
  readonly focus: readonly string[];
  /** A filter of ginkgo by labels. */
  readonly labels: string;
  /** So many processes of ginkgo beside each other. */
  readonly procs: number;
  readonly flags: readonly string[];
  /** What is done to registrations meanwhile: every 4 s each registration socket is removed; or every 30 s each registrar is killed, and every 120 s kubelet. */
  readonly breaking: "none" | "sockets" | "restarts";
  readonly isDryRun: boolean;
}
