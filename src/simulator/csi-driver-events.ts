import type { KindsOf } from "../base/event-source";
import type { CsiDriverFault, CsiMethod } from "./csi-driver-options";

export type CsiDriverEvent = { readonly atMs: number } & (
  | { readonly kind: "listening"; readonly csiAddress: string }
  /** A request arrived: its method's name and its `:authority`, both as its client sent them. */
  | { readonly kind: "called"; readonly method: string; readonly authority: string }
  | {
      readonly kind: "answered";
      readonly method: CsiMethod;
      readonly durationMs: number;
      readonly result: CsiAnswerResult;
    }
  | { readonly kind: "fault-applied"; readonly fault: CsiDriverFault }
  | { readonly kind: "stopped"; readonly because: "close" | "kill" }
);

export const CSI_DRIVER_EVENTS: KindsOf<CsiDriverEvent> = {
  listening: true,
  called: true,
  answered: true,
  "fault-applied": true,
  stopped: true,
};

export type CsiAnswerResult = { readonly kind: "ok" } | { readonly kind: "error"; readonly error: string };
