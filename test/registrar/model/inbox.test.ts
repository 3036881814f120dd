import { createInbox } from "../../../src/registrar/model/inbox";

test("the inbox gives events in order, without those whose signal was aborted", async () => {
  const inbox = createInbox<string>();
  const left = new AbortController();
  const next = inbox.next();
  inbox.put("stale", AbortSignal.abort());
  await new Promise(setImmediate);
  inbox.put("first", left.signal);
  expect(await next).toBe("first");
  inbox.put("stale", left.signal);
  inbox.put("kept", new AbortController().signal);
  left.abort();
  inbox.put("last");
  expect([await inbox.next(), await inbox.next()]).toEqual(["kept", "last"]);
});
