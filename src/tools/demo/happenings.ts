import { EventEmitter, once } from "node:events";
import type { StateName } from "../../registrar/model/state";
import type { CsiDriverEvent } from "../../simulator/driver/csi-driver";
import type { KubeletEvent } from "../../simulator/kubelet/events";

/** Who is on stage, each a process of its own. */
export type Role = "driver" | "kubelet" | RegistrarRole;
export type RegistrarRole = "registrar" | "second registrar";

/** The fields of a registrar's log line that says that its state changed. The official registrar writes none. */
interface StateChange {
  readonly from: StateName;
  readonly to: StateName;
  readonly reason: string;
  readonly driver: string | null;
}

/** Something that really happened: reported by a process, or done by the demo itself. */
export type Happening = { readonly atMs: number } & (
  | ({ readonly role: "driver" } & CsiDriverEvent)
  | ({ readonly role: "kubelet" } & KubeletEvent)
  | ({ readonly role: RegistrarRole } & StateChange)
  | { readonly role: "demo"; readonly kind: "chapter" | "deed"; readonly text: string }
  | { readonly role: "demo"; readonly kind: "start"; readonly who: Role }
);

export type Sign = Partial<Happening>;

/** Everything that happened, in the order in which it was reported to the demo. */
export function createTimeline() {
  const all: Happening[] = [];
  const news = new EventEmitter();

  /** The first happening with this sign from a place on; undefined: none so far. */
  const find = (sign: Sign, since: number) =>
    all
      .slice(since)
      .find((happening) =>
        Object.entries(sign).every(([field, value]) => happening[field as keyof Happening] === value),
      );

  return {
    all: all as readonly Happening[],
    find,
    add: (happening: Happening) => {
      all.push(happening);
      news.emit("added");
    },
    /** Waits for what `find` finds. Rejects with the signal's reason when that is aborted first. */
    when: async (sign: Sign, since: number, signal: AbortSignal) => {
      for (;;) {
        const found = find(sign, since);
        if (found !== undefined) return found;
        signal.throwIfAborted();
        await once(news, "added", { signal }).catch(() => {});
      }
    },
  };
}
