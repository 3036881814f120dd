import { EventEmitter, once } from "node:events";
import type { EventOf } from "../../../base/event-source";
import type { StateName } from "../../../registrar/model/state";
import type { CsiDriverEvent } from "../../../simulator/driver/csi-driver";
import type { CsiMethod } from "../../../simulator/driver/options";
import type { KubeletCall, KubeletEvent } from "../../../simulator/kubelet/events";

/** Who is on stage, each a process of its own. */
export type Role = "driver" | "kubelet" | RegistrarRole;
export type RegistrarRole = "registrar" | "second registrar";

/** The fields of a registrar's log line that says that its state changed. The official registrar writes none. */
export interface LoggedStateChange {
  readonly ts: number;
  readonly from: StateName;
  readonly to: StateName;
  readonly reason: string;
  readonly driver: string | null;
}

export type Deed =
  | { readonly kind: "chapter"; readonly title: string }
  | { readonly kind: "deed"; readonly text: string }
  | { readonly kind: "begin" | "end"; readonly lane: Role };

/** Something that really happened: reported by a process, or done by the demo itself. */
export type Happening = { readonly atMs: number } & (
  | { readonly kind: "driver"; readonly event: CsiDriverEvent }
  | { readonly kind: "kubelet"; readonly event: KubeletEvent }
  | { readonly kind: "registrar"; readonly role: RegistrarRole; readonly change: LoggedStateChange }
  | Deed
);

/** Looks at a happening for something; undefined where it is not that. */
export type Look<Found> = (happening: Happening) => Found | undefined;

const tells =
  <Event extends CsiDriverEvent | KubeletEvent>(role: "driver" | "kubelet") =>
  <Kind extends Event["kind"]>(kind: Kind): Look<EventOf<Event, Kind>> =>
  (happening) =>
    happening.kind === role && happening.event.kind === kind
      ? (happening.event as EventOf<Event, Kind>)
      : undefined;

export const driverTells = tells<CsiDriverEvent>("driver");
export const kubeletTells = tells<KubeletEvent>("kubelet");

export const kubeletGot =
  <Answer extends object>(call: KubeletCall): Look<Answer> =>
  (happening) => {
    const event = kubeletTells("called")(happening);
    if (event?.call !== call || event.result.kind !== "ok") return undefined;
    return (event.result.answer ?? {}) as Answer;
  };

export const kubeletHasTold: Look<object> = kubeletGot("NotifyRegistrationStatus");

export const driverAnswered =
  (method: CsiMethod): Look<object> =>
  (happening) => {
    const event = driverTells("answered")(happening);
    return event?.method === method && event.result.kind === "ok" ? event : undefined;
  };

export const registrarMoves =
  ({
    role = "registrar",
    ...fields
  }: { readonly role?: RegistrarRole } & Partial<Omit<LoggedStateChange, "ts">>): Look<LoggedStateChange> =>
  (happening) => {
    if (happening.kind !== "registrar" || happening.role !== role) return undefined;
    const { change } = happening;
    const fits = Object.entries(fields).every(
      ([key, value]) => change[key as keyof LoggedStateChange] === value,
    );
    return fits ? change : undefined;
  };

/** Everything that happened, in the order in which it was reported to the demo. */
export function createTimeline() {
  const happenings: Happening[] = [];
  const news = new EventEmitter();

  /** What the first happening that fits shows, from a place on, and when it happened; undefined: none so far. */
  const find = <Found>(look: Look<Found>, since: number) => {
    for (const happening of happenings.slice(since)) {
      const found = look(happening);
      if (found !== undefined) return { found, atMs: happening.atMs };
    }
    return undefined;
  };

  return {
    find,
    all: (): readonly Happening[] => happenings,
    /** The place behind the latest happening. */
    now: () => happenings.length,
    add: (happening: Happening) => {
      happenings.push(happening);
      news.emit("added");
    },
    /** Waits for what `find` finds. Rejects with the signal's reason when that is aborted first. */
    when: async <Found>(look: Look<Found>, since: number, signal: AbortSignal) => {
      for (;;) {
        const seen = find(look, since);
        if (seen !== undefined) return seen;
        signal.throwIfAborted();
        await once(news, "added", { signal }).catch(() => {});
      }
    },
  };
}
