import { invalidOption } from "./errors";
import { guardedCall } from "./guarded-call";
import { nearWord } from "./near-word";
import { createWakeUp } from "./pause";

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

/** A source of events. Its functions throw INVALID_OPTION for an unknown kind of event. */
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
  iterate<Kind extends Event["kind"]>(...kinds: readonly Kind[]): AsyncIterableIterator<EventOf<Event, Kind>>;
  /** The same, with `signal` in an object after the kinds, which ends the loop. */
  iterate<Kind extends Event["kind"]>(
    ...given: readonly [...kinds: Kind[], options: ListenOptions]
  ): AsyncIterableIterator<EventOf<Event, Kind>>;
}

export type EventSource<Event extends KindOfEvent> = ReturnType<typeof createEventSource<Event>>;

const MOST_WAITING = 1000;

/** Every kind of a union of events: the compiler finds one that is missing. */
export type EveryKind<Event extends KindOfEvent> = Readonly<Record<Event["kind"], true>>;

/** Reads what ends a subscription or a loop. Throws INVALID_OPTION. */
function readSignal(given: unknown, whose: string): AbortSignal | undefined {
  if (given === undefined) return undefined;
  if (Object.prototype.toString.call(given) !== "[object Object]")
    throw invalidOption(`${whose}: the last argument is not an object with signal`);
  const { signal, ...others }: ListenOptions = Object(given);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const hint = nearWord(unknown, ["signal"]) ? "did you mean signal?" : "there is signal";
    throw invalidOption(`${whose}: there is no option ${JSON.stringify(unknown)}; ${hint}`);
  }
  const isSignal = typeof Object(signal).aborted === "boolean" && "addEventListener" in Object(signal);
  if (signal !== undefined && !isSignal) throw invalidOption(`${whose}: signal is not an AbortSignal`);
  return signal;
}

/**
 * Makes a source of events of these kinds. Its functions throw INVALID_OPTION for another kind. What a listener throws, or
 * rejects with, goes to `onListenerError` only.
 */
export function createEventSource<Event extends KindOfEvent>(
  kinds: EveryKind<Event>,
  onListenerError: (error: unknown, event: Event) => void,
) {
  const readKind = (given: unknown, whose: string): Event["kind"] => {
    if (typeof given === "string" && Object.hasOwn(kinds, given)) return given;
    const known = Object.keys(kinds);
    const all = `there are ${known.join(", ")}`;
    if (typeof given !== "string") {
      const what = Array.isArray(given) ? "a list" : typeof given;
      throw invalidOption(`${whose} takes one kind of events, as a text, not ${what}; ${all}`);
    }
    const meant = nearWord(given, known);
    const hint = meant === undefined ? all : `did you mean "${meant}"?`;
    throw invalidOption(`${whose}: there is no event of kind ${JSON.stringify(given)}; ${hint}`);
  };
  /** Each with what ends it, also by its signal, on which nothing stays then. */
  const listeners = new Map<(event: Event) => unknown, () => void>();
  let ended = false;
  const join = (hear: (event: Event) => unknown, signal: AbortSignal | undefined, onLeft = () => {}) => {
    const leave = () => {
      listeners.delete(hear);
      signal?.removeEventListener("abort", leave);
      onLeft();
    };
    if (ended || signal?.aborted) return leave;
    listeners.set(hear, leave);
    signal?.addEventListener("abort", leave);
    return leave;
  };

  const subscribe = (...given: readonly unknown[]) => {
    const takes = "subscribe takes a function, or one kind of events and then a function";
    const areSwapped = typeof given[0] === "function" && typeof given[1] === "string";
    if (areSwapped) throw invalidOption(`${takes}; write subscribe(${JSON.stringify(given[1])}, …)`);
    if (Array.isArray(given[0])) throw invalidOption(`${takes}; iterate takes several kinds`);
    const kind = typeof given[0] === "function" ? undefined : readKind(given[0], "subscribe");
    const [hear, options] = kind === undefined ? given : given.slice(1);
    if (typeof hear !== "function") throw invalidOption(takes);
    const signal = readSignal(options, "subscribe");
    // A function of its own: the same one may listen twice.
    return join((event) => (kind === undefined || event.kind === kind ? hear(event) : undefined), signal);
  };

  const iterate = <Kind extends Event["kind"]>(...given: readonly unknown[]) => {
    const list = given.find(Array.isArray);
    if (list) {
      const kinds = list.map((kind) => JSON.stringify(kind)).join(", ");
      throw invalidOption(`iterate takes kinds of events one by one, as in iterate(${kinds}), not a list`);
    }
    const hasOptions = typeof given.at(-1) !== "string";
    const wanted = given.slice(0, hasOptions ? -1 : undefined).map((kind) => readKind(kind, "iterate"));
    const signal = hasOptions ? readSignal(given.at(-1), "iterate") : undefined;
    const waiting: EventOf<Event, Kind>[] = [];
    const news = createWakeUp();
    const hear = (event: Event) => {
      if (wanted.length > 0 && !wanted.includes(event.kind)) return;
      waiting.push(event as EventOf<Event, Kind>);
      if (waiting.length > MOST_WAITING) waiting.shift();
      news.call();
    };
    const leave = join(hear, signal, news.call);

    async function* events() {
      for (;;) {
        for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield event;
        if (!listeners.has(hear)) return;
        await news.called();
      }
    }
    const iterator = events();
    const end = iterator.return.bind(iterator);
    iterator.return = () => {
      waiting.length = 0;
      leave();
      return end();
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
    readKind,
    emit: (event: Event): void => {
      for (const hear of [...listeners.keys()]) {
        if (!listeners.has(hear)) continue;
        guardedCall(
          () => hear(event),
          (error) => onListenerError(error, event),
        );
      }
    },
    end: (): void => {
      ended = true;
      for (const leave of [...listeners.values()]) leave();
    },
  };
}
