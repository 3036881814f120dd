import type { CsiDriverEvent } from "../../../simulator/csi-driver-events";
import { CSI_METHODS, type CsiDriverFault } from "../../../simulator/csi-driver-options";
import { durationText, type Narrator } from "../../event-lines";

/** Methods that get their line when they end, with what their request said. */
const ANSWERED: readonly string[] = CSI_METHODS;

/** Makes a narrator of a simulated CSI driver: one line for each call. */
export function createDriverNarrator(name: string): Narrator<CsiDriverEvent> {
  /** Of requests that are not answered yet, by method, oldest first. */
  const authorities = new Map<string, string[]>();
  return (event) => {
    switch (event.kind) {
      case "listening":
        return [`listening on ${event.csiAddress} as ${name}`];
      case "called": {
        const { method, authority } = event;
        if (!ANSWERED.includes(method)) return [`${method}: not implemented here (authority ${authority})`];
        authorities.set(method, [...(authorities.get(method) ?? []), authority]);
        return [];
      }
      case "answered": {
        const { method, durationMs, result } = event;
        const authority = authorities.get(method)?.shift();
        const outcome = result.kind === "ok" ? "answered" : `failed, ${result.error},`;
        return [`${method}: ${outcome} after ${durationText(durationMs)} (authority ${authority})`];
      }
      case "fault-applied":
        return [faultText(event.fault)];
      case "stopped":
        return ["stopped"];
    }
  };
}

function faultText(fault: CsiDriverFault): string {
  switch (fault.kind) {
    case "slow":
      return `${fault.method}: waits ${durationText(fault.delayMs)}, as configured`;
    case "error":
      return `${fault.method}: fails with ${fault.code}, as configured`;
    case "hang":
      return `${fault.method}: never answers, as configured`;
    case "not-ready":
      return "Probe: says not ready, as configured";
  }
}
