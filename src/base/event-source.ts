import { invalidOption } from "./errors";
import { guardedCall } from "./guarded-call";

type KindOfEvent = { readonly kind: string };

/** The events of a union that are of one kind. */
export type EventOf<Event extends KindOfEvent, Kind extends Event["kind"]> = Extract<
  Event,
  { readonly kind: Kind }
>;

/** What ends a subscription or a loop. */
export interface ListenOptions {
  /** Aborted, it ends the subscription or the loop; aborted before, nothing is heard. @default nothing */
  readonly signal?: AbortSignal | undefined;
}

/** A source of events. */
export interface Events<Event extends KindOfEvent> extends AsyncIterable<Event> {
  /** Calls `listener`, which may be async, with each event from now on; the function returned ends that. */
  subscribe(listener: (event: Event) => unknown, options?: ListenOptions): () => void;
  /** The same, for events of one kind. */
  subscribe<Kind extends Event["kind"]>(
    kind: Kind,
    listener: (event: EventOf<Event, Kind>) => unknown,
    options?: ListenOptions,
  ): () => void;
  /**
   * The events of these kinds from now on, or of all, for `for await`. Ends when the source does, with the loop, or by the
   * signal in an object after the kinds. A loop that falls behind by more than 1,000 events misses the oldest.
   */
  iterate<Kind extends Event["kind"]>(
    ...kinds: readonly Kind[] | readonly [...kinds: Kind[], options: ListenOptions]
  ): AsyncIterableIterator<EventOf<Event, Kind>>;
}

export type EventSource<Event extends KindOfEvent> = ReturnType<typeof createEventSource<Event>>;

const MOST_WAITING = 1000;

const signalIn = (given: readonly unknown[]) => (Object(given.at(-1)) as ListenOptions).signal;

/** Makes a source of events. What a listener throws, or rejects with, goes to `onListenerError` only. */
export function createEventSource<Event extends KindOfEvent>(
  onListenerError: (error: unknown, event: Event) => void,
) {
  const listeners = new Set<{ hear(event: Event): unknown; end?(): void }>();
  let ended = false;

  const subscribe = (...given: readonly unknown[]) => {
    const [first, second] = given;
    const signal = signalIn(given);
    const hear = typeof second === "function" ? second : first;
    if (typeof hear !== "function")
      throw invalidOption("subscribe takes a function, or a kind of events and a function");
    const kind = hear === first ? undefined : first;
    // An object of its own: the same function may listen twice.
    const listener = {
      hear: (event: Event) => (kind === undefined || event.kind === kind ? hear(event) : undefined),
    };
    const leave = () => {
      listeners.delete(listener);
      signal?.removeEventListener("abort", leave);
    };
    if (!signal?.aborted) listeners.add(listener);
    signal?.addEventListener("abort", leave);
    return leave;
  };

  const iterate = <Kind extends Event["kind"]>(...given: readonly unknown[]) => {
    const wanted = given.filter((kind) => typeof kind === "string");
    const signal = signalIn(given);
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
        signal?.removeEventListener("abort", listener.end);
        wake();
      },
    };
    if (!ended && !signal?.aborted) listeners.add(listener);
    signal?.addEventListener("abort", listener.end);

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
