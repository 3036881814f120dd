import { dialRegistration } from "../../support/dial-registration";
import { eventually } from "../../support/eventually";
import { ATTACKS, type Attack } from "../attacks";
import { INFO, serveGrpc } from "../served-grpc";
import { END_STREAM, frame, HEADERS, PING, RST_STREAM } from "../wire";

const MARK = Buffer.from("still on");

/** Plays an attack on a server of its own, on which kubelet must then be answered. */
async function outcomeOf({ bytes, streamId }: Attack): Promise<string> {
  await using served = await serveGrpc();
  using client = served.connect(bytes, frame(PING, 0, 0, MARK));
  const end = () =>
    client.frames.find((one) => {
      if (streamId === undefined) return one.type === PING && one.payload.equals(MARK);
      const ends = one.type === RST_STREAM || (one.type === HEADERS && (one.flags & END_STREAM) !== 0);
      return ends && one.streamId === streamId;
    });
  await client.until(() => end() !== undefined);

  using kubelet = dialRegistration(served.path);
  expect(await kubelet.getInfo()).toEqual(INFO);
  const isClosed = client.socket.destroyed;
  await eventually(() => expect(served.server.connections.open).toBe(isClosed ? 1 : 2));
  expect(served.records.length).toBeLessThan(10);

  if (isClosed) return `closed: ${served.server.connections.lastRejection ?? ""}`;
  if (streamId === undefined) return "ignored";
  const last = end();
  if (last?.type === RST_STREAM) return `reset ${last.payload.readUInt32BE()}`;
  return `answered ${Number(await client.statusOf(streamId))}`;
}

describe.each(Object.entries(ATTACKS))("%s", (_theme, attacks) => {
  test.each(attacks.map((attack) => [attack.name, attack] as const))("%s", async (_name, attack) => {
    const { outcome } = attack;
    expect(await outcomeOf(attack)).toEqual(
      typeof outcome === "string" ? outcome : expect.stringMatching(outcome),
    );
  });
});
