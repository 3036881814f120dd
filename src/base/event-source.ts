import { invalidOption } from "./errors";
import { guardedCall } from "./guarded-call";

type KindOfEvent = { readonly kind: string };

export type EventOf<Event extends KindOfEvent, Kind extends Event["kind"]> = Extract<
  Event,
  { readonly kind: Kind }
>;

/** A source of events. */
export interface Events<Event extends KindOfEvent> extends AsyncIterable<Event> {
  /** Calls `listener`, which may be async, with each event from now on; the function returned ends that. */
  subscribe(listener: (event: Event) => unknown): () => void;
  /** The same, for events of one kind. */
  subscribe<Kind extends Event["kind"]>(
    kind: Kind,
    listener: (event: EventOf<Event, Kind>) => unknown,
  ): () => void;
  /**
   * The events of these kinds from now on, or of all, for `for await`. Ends when the source does, and with the loop. A loop
   * that falls behind by more than 1,000 events misses the oldest.
   */
  iterate<Kind extends Event["kind"]>(...kinds: readonly Kind[]): AsyncIterableIterator<EventOf<Event, Kind>>;
}

export type EventSource<Event extends KindOfEvent> = ReturnType<typeof createEventSource<Event>>;

const MOST_WAITING = 1000;

/** Makes a source of events. What a listener throws, or rejects with, goes to `onListenerError` only. */
export function createEventSource<Event extends KindOfEvent>(
  onListenerError: (error: unknown, event: Event) => void,
) {
  const listeners = new Set<{ hear(event: Event): unknown; end?(): void }>();
  let ended = false;

  const subscribe = (first: unknown, second?: unknown) => {
    const hear = second ?? first;
    if (typeof hear !== "function")
      throw invalidOption("subscribe takes a function, or a kind of events and a function");
    const kind = second === undefined ? undefined : first;
    // An object of its own: the same function may listen twice.
    const listener = {
      hear: (event: Event) => (kind === undefined || event.kind === kind ? hear(event) : undefined),
    };
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

  const iterate = <Kind extends Event["kind"]>(...given: readonly Kind[]) => {
    const wanted: readonly string[] = given;
    const waiting: EventOf<Event, Kind>[] = [];
    let wake = () => {};
    const listener = {
      hear: (event: Event) => {
        if (wanted.length > 0 && !wanted.includes(event.kind)) return;
        waiting.push(event as EventOf<Event, Kind>);
        if (waiting.length > MOST_WAITING) waiting.shift();
        wake();
      },
      end: () => {
        listeners.delete(listener);
        wake();
      },
    };
    if (!ended) listeners.add(listener);

    async function* events() {
      for (;;) {
        for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield event;
        if (!listeners.has(listener)) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    const iterator = events();
    const leave = iterator.return.bind(iterator);
    iterator.return = () => {
      waiting.length = 0;
      listener.end();
      return leave();
    };
    return iterator;
  };

  const forListeners: Events<Event> = {
    subscribe: subscribe as Events<Event>["subscribe"],
    iterate,
    [Symbol.asyncIterator]: () => iterate(),
  };
  return {
    ...forListeners,
    forListeners,
    emit: (event: Event): void => {
      for (const listener of [...listeners]) {
        if (!listeners.has(listener)) continue;
        guardedCall(
          () => listener.hear(event),
          (error) => onListenerError(error, event),
        );
      }
    },
    end: (): void => {
      ended = true;
      for (const listener of [...listeners]) listener.end?.();
    },
  };
}
