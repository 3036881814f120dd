import { createWakeUp } from "../../base/pause";

export type Inbox<Event> = ReturnType<typeof createInbox<Event>>;

export function createInbox<Event>() {
  const entries: { readonly event: Event; readonly signal: AbortSignal | undefined }[] = [];
  const news = createWakeUp();
  return {
    /** Puts an event at the end. One put with a signal counts only as long as that is not aborted. */
    put: (event: Event, signal?: AbortSignal): void => {
      entries.push({ event, signal });
      news.call();
    },
    /** Takes the first event that counts, or waits for it. For one reader. */
    next: async (): Promise<Event> => {
      for (;;) {
        for (let entry = entries.shift(); entry; entry = entries.shift())
          if (!entry.signal?.aborted) return entry.event;
        await news.called();
      }
    },
  };
}
