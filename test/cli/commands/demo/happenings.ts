import type {
  Happening,
  LoggedStateChange,
  RegistrarRole,
} from "../../../../src/cli/commands/demo/happenings";
import type { CsiDriverEvent } from "../../../../src/simulator/driver/services";
import type { KubeletEvent } from "../../../../src/simulator/kubelet/events";

// Happenings as the demo hears of them.

export const moved = (
  atMs: number,
  fields: Partial<LoggedStateChange>,
  role: RegistrarRole = "registrar",
): Happening => ({ kind: "registrar", role, change: { ts: atMs, ...fields } as LoggedStateChange, atMs });

export const driver = (event: CsiDriverEvent): Happening => ({ kind: "driver", event, atMs: event.atMs });

export const kubelet = (event: KubeletEvent): Happening => ({ kind: "kubelet", event, atMs: event.atMs });

export const called = (atMs: number, call: "GetInfo" | "NodeGetInfo" | "dial", error?: string): Happening =>
  kubelet({
    kind: "called",
    call,
    socketPath: "/x-reg.sock",
    durationMs: 1,
    result: error === undefined ? { kind: "ok" } : { kind: "error", error },
    atMs,
  });
