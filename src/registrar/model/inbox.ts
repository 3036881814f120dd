export interface Inbox<Event> {
  /** Puts an event at the end. One put with a signal counts only as long as that is not aborted. */
  put(event: Event, signal?: AbortSignal): void;
  /** Takes the first event that counts, or waits for it. For one reader. */
  next(): Promise<Event>;
}

export function createInbox<Event>(): Inbox<Event> {
  const entries: { readonly event: Event; readonly signal: AbortSignal | undefined }[] = [];
  let wake: () => void = () => {};
  return {
    put: (event, signal) => {
      entries.push({ event, signal });
      wake();
    },
    next: async () => {
      for (;;) {
        for (let entry = entries.shift(); entry; entry = entries.shift())
          if (!entry.signal?.aborted) return entry.event;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
