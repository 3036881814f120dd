export interface Plan {
  readonly tests: string;
  readonly ginkgo: string;
  readonly reports: string;
  readonly objects: readonly object[];
  readonly flags: readonly string[];
  readonly testFlags: readonly string[];
  readonly policy: (typeof POLICIES)[number];
  readonly breaking: (typeof BREAKAGES)[number];
}

export const POLICIES = ["none", "swap", "drop"] as const;
export const BREAKAGES = ["none", "sockets", "restarts"] as const;
