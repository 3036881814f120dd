/** Something that a simulated kubelet does wrong, or against the plugin, on request. */
export type KubeletFault =
  | {
      /** Refuses with this text, as kubelet does when the API server is away or a check fails. */
      readonly kind: "refuse";
      readonly reason: string;
      /** Where it fails. Kubelets up to 1.35 never retry after `registration` (the default), but do after `validation`. */
      readonly stage?: "validation" | "registration";
      /** Only this driver. Default: any. */
      readonly driverName?: string;
      /** How often. Default: until the faults are changed. */
      readonly times?: number;
    }
  | {
      /** Waits this long before a call. */
      readonly kind: "slow";
      readonly before: "GetInfo" | "NodeGetInfo" | "NotifyRegistrationStatus";
      readonly delayMs: number;
      readonly times?: number;
    }
  /** The connection breaks before the status report: the driver is in use, but its registrar does not know. */
  | { readonly kind: "drop-before-notice"; readonly driverName?: string; readonly times?: number }
  /** Sees sockets but never calls: a kubelet that watches another directory. */
  | { readonly kind: "never-call" };
