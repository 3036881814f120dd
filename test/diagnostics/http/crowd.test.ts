import { once } from "node:events";
import type { Socket } from "node:net";
import type { Route } from "../../../src/diagnostics/server";
import { eventually } from "../../support/eventually";
import { askHttp } from "../../support/http";
import { get, hello, serve } from "./support";

const MAX = 64;
const WARNING = "Too many HTTP connections, closed one";

test("the oldest connection without a running answer is closed, and the newest is served", async () => {
  const asked: AbortSignal[] = [];
  const silent: Route = (_request, signal) => new Promise(() => asked.push(signal));
  await using server = await serve({ "/silent": silent, "/hello": hello });
  const busy = await server.dial(get("/silent"));
  await eventually(() => expect(asked).toHaveLength(1));
  const idle = await Promise.all(Array.from({ length: MAX - 1 }, () => server.dial()));
  const gone = Promise.race(idle.map((socket) => once(socket.resume(), "end")));
  expect((await askHttp(server.port, "/hello")).status).toBe(200);
  await gone;
  expect(asked[0]?.aborted).toBe(false);
  expect(busy.readableEnded).toBe(false);
  expect(server.log.all(WARNING).map(({ fields }) => fields)).toEqual([
    { limit: MAX, closed: "oldest idle" },
  ]);
  busy.resetAndDestroy();
  await eventually(() => expect(asked[0]?.aborted).toBe(true));
});

test("a request among hundreds of simultaneous connections is answered, however many follow", async () => {
  await using server = await serve({ "/hello": hello });
  const crowd: Promise<Socket>[] = [];
  const asking: ReturnType<typeof askHttp>[] = [];
  // In one turn of the event loop: all of them wait to be accepted when the server looks.
  for (let count = 0; count < 400; count++) {
    if (count % 80 === 40) asking.push(askHttp(server.port, "/hello"));
    crowd.push(server.dial());
  }
  await Promise.all(crowd);
  expect((await Promise.all(asking)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});
