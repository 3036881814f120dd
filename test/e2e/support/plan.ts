/** One run of ginkgo in one cluster. */
export interface Plan {
  readonly tests: string;
  readonly ginkgo: string;
  /** A directory for the reports and for what the run needs. */
  readonly reports: string;
  /** What is applied before the tests. */
  readonly objects: readonly object[];
  /** ginkgo's choice of tests, and how many run beside each other. */
  readonly flags: readonly string[];
  readonly testFlags: readonly string[];
  readonly policy: (typeof POLICIES)[number];
  readonly breaking: (typeof BREAKAGES)[number];
}

export const POLICIES = ["none", "swap", "drop"] as const;
export const BREAKAGES = ["none", "sockets", "restarts"] as const;
