import { createInbox } from "../../../src/registrar/model/inbox";

test("gives events in the order in which they were put", async () => {
  const inbox = createInbox<string>();
  inbox.put("a");
  inbox.put("b");
  expect([await inbox.next(), await inbox.next()]).toEqual(["a", "b"]);
});

test("an event whose signal was aborted meanwhile does not count", async () => {
  const inbox = createInbox<string>();
  const left = new AbortController();
  inbox.put("stale", left.signal);
  inbox.put("kept", new AbortController().signal);
  left.abort();
  inbox.put("stale too", left.signal);
  inbox.put("last");
  expect([await inbox.next(), await inbox.next()]).toEqual(["kept", "last"]);
});

test("goes on waiting where all that came does not count", async () => {
  const inbox = createInbox<string>();
  const next = inbox.next();
  inbox.put("stale", AbortSignal.abort());
  await new Promise(setImmediate);
  inbox.put("a");
  expect(await next).toBe("a");
});
