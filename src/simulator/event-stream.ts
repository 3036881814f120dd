import { setMaxListeners } from "node:events";
import { RegistrarError } from "../errors";

/** What every event of the simulator has. */
export interface SimulatorEvent {
  /** Which event; each kind has its own fields. */
  readonly kind: string;
  /** When it happened, in milliseconds since 1970. */
  readonly atMs: number;
}

/** What `when` matches besides the kind, and for how long. */
export interface WhenOptions<Event> {
  /** Only an event for which this is true. Default: any of the kind. */
  readonly where?: (event: Event) => boolean;
  /** `start` (default) also finds an event that has already happened, `now` only a future one. */
  readonly from?: "start" | "now";
  /** Gives up when aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** Everything a simulated part did, in order. */
export interface EventStream<Event extends SimulatorEvent> {
  /** The newest 1,000 events, oldest first. */
  history(): readonly Event[];
  /** Calls `listener` with each event from now on, until the returned function is called. */
  subscribe(listener: (event: Event) => void): () => void;
  /** The first event of this kind. Rejects with ABORTED when the signal is aborted or the simulated part is closed. */
  when<Kind extends Event["kind"]>(
    kind: Kind,
    options?: WhenOptions<Extract<Event, { readonly kind: Kind }>>,
  ): Promise<Extract<Event, { readonly kind: Kind }>>;
}

/** The writing end of an event stream. */
export interface EventLog<Event extends SimulatorEvent> {
  readonly stream: EventStream<Event>;
  append(event: WithoutTime<Event>): void;
  /** Nothing more will happen: every pending wait is rejected. */
  end(): void;
}

/** An event before it has a time; distributes over the kinds of a union. */
export type WithoutTime<Event> = Event extends unknown ? Omit<Event, "atMs"> : never;

const HISTORY = 1000;

/** Makes the log of one simulated part; `whose` names it in the error of a wait that was given up. */
export function createEventLog<Event extends SimulatorEvent>(whose: string): EventLog<Event> {
  const history: Event[] = [];
  const listeners = new Set<(event: Event) => void>();
  const ended = new AbortController();
  setMaxListeners(0, ended.signal); // Any number of callers may wait, and Node would warn about a leak.

  const subscribe = (listener: (event: Event) => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

  const when: EventStream<Event>["when"] = (kind, options = {}) => {
    type Wanted = Extract<Event, { readonly kind: typeof kind }>;
    const wanted = (event: Event): event is Wanted =>
      event.kind === kind && (options.where?.(event as Wanted) ?? true);
    const past = options.from === "now" ? undefined : history.find(wanted);
    if (past) return Promise.resolve(past);
    return new Promise<Wanted>((resolve, reject) => {
      const settled = new AbortController();
      const giveUp = () => {
        settled.abort();
        unsubscribe();
        const why = ended.signal.aborted ? `${whose} was closed` : "the caller gave up";
        reject(new RegistrarError("ABORTED", `"${kind}" of ${whose} did not happen: ${why}`));
      };
      const unsubscribe = subscribe((event) => {
        if (!wanted(event)) return;
        settled.abort();
        unsubscribe();
        resolve(event);
      });
      for (const end of [ended.signal, options.signal]) {
        if (end?.aborted) giveUp();
        else end?.addEventListener("abort", giveUp, { signal: settled.signal });
      }
    });
  };

  return {
    stream: { history: () => [...history], subscribe, when },
    append: (event) => {
      const stamped = { ...event, atMs: Date.now() } as unknown as Event;
      history.push(stamped);
      if (history.length > HISTORY) history.shift();
      for (const listener of [...listeners]) {
        try {
          listener(stamped);
        } catch (error) {
          // A listener's error must surface, but not inside the part that it listens to.
          queueMicrotask(() => {
            throw error;
          });
        }
      }
    },
    end: () => ended.abort(),
  };
}
