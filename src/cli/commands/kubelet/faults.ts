import type { KubeletFault } from "../../../simulator/kubelet-faults";
import { parseChoice, parseCount, parseDuration } from "../../command-flags";

const SLOWED = ["GetInfo", "NodeGetInfo", "NotifyRegistrationStatus"] as const;

/** `GetInfo=2s`, `GetInfo=2s:1` for the first call. Throws for anything else. */
export function parseSlow(text: string): KubeletFault {
  const [, call, duration, times] = /^(\w+)=([\w.]+)(?::(\w+))?$/.exec(text) ?? [];
  if (call === undefined || duration === undefined)
    throw new Error(`"${text}" is not of the form GetInfo=2s:1`);
  return {
    kind: "slow",
    before: parseChoice(call, SLOWED),
    delayMs: parseDuration(duration),
    ...(times !== undefined && { times: parseCount(times) }),
  };
}

/** The faults that the other flags ask for. */
export function faultsOf(flags: {
  readonly refuse?: string | undefined;
  readonly refuseTimes?: number | undefined;
  readonly refuseAt: "registration" | "validation";
  readonly dropBeforeNotice: number;
  readonly neverCall?: boolean | undefined;
}): readonly KubeletFault[] {
  const { refuse, refuseTimes, refuseAt, dropBeforeNotice, neverCall } = flags;
  const times = refuseTimes === undefined ? {} : { times: refuseTimes };
  return [
    ...(refuse === undefined ? [] : [{ kind: "refuse", reason: refuse, stage: refuseAt, ...times } as const]),
    ...(dropBeforeNotice > 0 ? [{ kind: "drop-before-notice", times: dropBeforeNotice } as const] : []),
    ...(neverCall ? [{ kind: "never-call" } as const] : []),
  ];
}
