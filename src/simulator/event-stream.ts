import { invalidOption, RegistrarError } from "../base/errors";
import { createEventSource, type EventOf, type Events, type EveryKind } from "../base/event-source";
import { isPromise } from "../base/guarded-call";
import { fakeTimersHint, followSignal, startTimer, stopTimer } from "../base/pause";
import { escapeUnprintable } from "../logging/escape";
import { callbackOf, milliseconds, oneOf, signal } from "../options/option-kinds";
import { type OptionTable, optional, readOptions } from "../options/read-options";

/** One step of a simulated part. */
export interface SimulatorEvent {
  /** Which step it is. */
  readonly kind: string;
  /** When it happened, in milliseconds since 1970. */
  readonly atMs: number;
}

/** What a wait takes besides what it waits for. */
export interface WaitOptions {
  /** `start` also takes what happened already, `now` only what is still to come. @default "start" */
  readonly from?: "start" | "now" | undefined;
  /** The limit, in milliseconds. @default the `waitTimeoutMs` of the simulated part */
  readonly timeoutMs?: number | undefined;
  /** Aborted, it ends the wait with ABORTED. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** What `when` takes besides the kind. */
export interface WhenOptions<Event> extends WaitOptions {
  /** Only an event for which this holds. @default any of the kind */
  readonly where?: ((event: Event) => boolean) | undefined;
}

/** Everything a simulated part did, in order. */
export interface EventStream<Event extends SimulatorEvent> extends Events<Event> {
  /** The newest 1,000 events, oldest first. */
  history(): readonly Event[];
  /** Those of one kind among them. */
  history<Kind extends Event["kind"]>(kind: Kind): readonly EventOf<Event, Kind>[];
  /**
   * The first event of this kind. Rejects with TIMEOUT at the limit, with ABORTED when given up or when the simulated
   * part is closed; both say what was seen. ABORTED need not be awaited.
   */
  when<Kind extends Event["kind"]>(
    kind: Kind,
    options?: WhenOptions<EventOf<Event, Kind>>,
  ): Promise<EventOf<Event, Kind>>;
}

/** An event before it has a time; distributes over the kinds of a union. */
export type WithoutTime<Event> = Event extends unknown ? Omit<Event, "atMs"> : never;

/** Less than the 5 s after which jest and vitest give up a test: if it waits at once, it fails with our reason. */
export const WAIT_TIMEOUT_MS = 4_500;

export const WAIT_OPTIONS: OptionTable<WaitOptions> = {
  from: optional(oneOf(["start", "now"])),
  timeoutMs: optional(milliseconds()),
  signal: optional(signal),
};

const HISTORY = 1000;
const EVENTS_TOLD = 8;

/** Makes the log of one simulated part. The error of a wait that failed has `awaited`, `whose` name, and the latest events. */
export function createEventLog<Event extends SimulatorEvent>(
  whose: string,
  kinds: EveryKind<Event>,
  waitTimeoutMs = WAIT_TIMEOUT_MS,
) {
  // A listener's failed assertion must fail the test: every test runner reports an uncaught error.
  const source = createEventSource<Event>(kinds, (error) => {
    queueMicrotask(() => {
      throw error;
    });
  });
  const history: Event[] = [];

  const wait = async <Kind extends Event["kind"]>(
    kind: Kind,
    given: WhenOptions<EventOf<Event, Kind>>,
    awaited = `"${String(kind)}"`,
  ): Promise<EventOf<Event, Kind>> => {
    type Wanted = EventOf<Event, Kind>;
    source.readKind(kind, "when");
    const place: { readonly stack?: string } = {};
    Error.captureStackTrace(place, wait); // Of the line that waits: a timer or another event makes the error.
    const { where, from, ...options } = readOptions<WhenOptions<Wanted>>("when", given, {
      ...WAIT_OPTIONS,
      where: optional(callbackOf<(event: Wanted) => boolean>()),
    });
    const { signal = new AbortController().signal, timeoutMs = waitTimeoutMs } = options;
    const wanted = (event: Event): event is Wanted =>
      event.kind === kind && (where === undefined || answerOf(where(event as Wanted)));
    const inVain = (code: "ABORTED" | "TIMEOUT", why: string, cause?: unknown) => {
      const text = `${awaited} of ${whose} did not happen: ${why}; ${tellLatest(history)}`;
      const error = new RegistrarError(code, escapeUnprintable(text), { cause });
      error.stack += /\n.*/s.exec(place.stack ?? "")?.[0] ?? "";
      return error;
    };
    const past = from === "now" ? undefined : history.find(wanted);
    if (past) return past;
    using until = followSignal(signal);
    const timer = startTimer(() => until.abort(), timeoutMs);
    try {
      for await (const event of source.iterate({ signal: until.signal })) if (wanted(event)) return event;
      if (signal.aborted) throw inVain("ABORTED", "the caller gave up", signal.reason);
      if (!until.signal.aborted) throw inVain("ABORTED", `${whose} was closed`);
      throw inVain("TIMEOUT", `it did not come within ${timeoutMs} ms${fakeTimersHint()}`);
    } finally {
      stopTimer(timer);
    }
  };

  const stream: EventStream<Event> = {
    history: (kind?: Event["kind"]) => {
      if (kind !== undefined) source.readKind(kind, "history");
      return history.filter((event) => kind === undefined || event.kind === kind) as never;
    },
    ...source.forListeners,
    when: (kind, options = {}) => quietly(wait(kind, options)),
  };
  return {
    stream,
    wait,
    append: (event: WithoutTime<Event>): void => {
      // The history and every listener get the same object.
      const stamped = Object.freeze({ ...event, atMs: Date.now() } as unknown as Event);
      history.push(stamped);
      if (history.length > HISTORY) history.shift();
      source.emit(stamped);
    },
    end: source.end,
  };
}

/** A wait that is ABORTED need not be awaited; any other failure is an unhandled rejection, which a test runner reports. */
export function quietly<Value>(promise: Promise<Value>): Promise<Value> {
  const told = promise.catch((error: unknown) => {
    if (error instanceof RegistrarError && error.code === "ABORTED") told.catch(() => {});
    throw error;
  });
  return told;
}

/** What `where` returned. Throws for a promise, which would match every event. */
function answerOf(given: boolean): boolean {
  if (!isPromise(given)) return given;
  given.catch(() => {}); // The result is ignored.
  throw invalidOption("when: where returned a promise; it takes a function that returns true or false");
}

/** The latest events by their kinds and texts: how far a simulated part came, and what it failed with. */
function tellLatest(history: readonly SimulatorEvent[]): string {
  if (history.length === 0) return "nothing was seen";
  const textOf = (value: unknown) => (typeof value === "object" ? Object(value).kind : value);
  const told = history.slice(-EVENTS_TOLD).map((event) => {
    const texts = Object.values(event).map(textOf);
    return texts.filter((text) => typeof text === "string").join(" ");
  });
  return `seen: ${history.length > EVENTS_TOLD ? "… " : ""}${told.join(", ")}`;
}
