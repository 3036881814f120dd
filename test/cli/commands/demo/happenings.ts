import type { Happening, LogLine, RegistrarRole } from "../../../../src/cli/commands/demo/happenings";
import type { KubeletEvent } from "../../../../src/simulator/kubelet/events";

// Happenings as the demo hears of them.

export const logged = (
  atMs: number,
  msg: string,
  fields: object = {},
  role: RegistrarRole = "registrar",
): Happening => ({
  kind: "registrar",
  role,
  line: { ts: atMs, msg, ...fields } as LogLine,
  atMs,
});

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
