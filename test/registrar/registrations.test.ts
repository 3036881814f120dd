import { only } from "../../src/registrar/registrations";
import { createTestNode, startListening } from "../support/registrar-node";

test("one registration, to look at as one of one: its events, until the listener unsubscribes", async () => {
  await using node = await createTestNode();
  await using started = await startListening(node);
  const registrations = only(started.registrar);
  expect(registrations).toMatchObject({ scope: "one-driver", all: [started.registrar] });
  const seen: string[] = [];
  const unsubscribe = registrations.subscribe(({ kind, registration }) => {
    expect(registration).toBe(started.registrar);
    seen.push(kind);
  });
  await started.accept();
  unsubscribe();
  await started.registrar.close();
  // The loop changes the state a little after each call.
  expect(seen.toSorted()).toEqual(["asked", "notified", "state-changed", "state-changed"]);
});
