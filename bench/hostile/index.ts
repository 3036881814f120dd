import type { Measurement } from "../bench";
import { grid } from "../figures";
import { present } from "../support/contestants";
import { undergo } from "./ordeal";
import type { Visit } from "./visitors";

/** What docs/operations.md recommends. */
const LIMIT_MB = 100;
const VISITS: readonly Visit[] = (["registration socket", "HTTP endpoint"] as const).flatMap((door) => [
  { door, connections: 200, atOnce: 10, stayEvery: 5 },
  { door, connections: 500, atOnce: 500, stayEvery: 5 },
]);
const HEAD = ["at", "clients", "", "at rest, MB", "at most", "10 s after"];

/** Sends hostile clients to a registrar: what memory that costs, and whether it stays registered and answers probes. */
export const hostile: Measurement = {
  command: "npm run bench:hostile",
  kubelets: () => [],
  run: async ({ cached, official, only, say }) => {
    const rows: (readonly string[])[] = [];
    for (const visit of VISITS.filter(({ door }) => door.includes(only))) {
      for (const contestant of present(cached, official)) {
        const runs = await Promise.all([undergo(contestant, visit), undergo(contestant, visit, LIMIT_MB)]);
        const [{ restMb, peakMb, afterMb, isRegistered }, limited] = runs;
        const { door, connections, atOnce } = visit;
        const more = (mb: number) => `${mb < 0 ? "−" : "+"}${Math.abs(mb).toFixed(1)}`;
        rows.push([
          door,
          `${connections}, ${atOnce === connections ? "all" : atOnce} at a time`,
          isRegistered ? contestant.name : `${contestant.name}: **not registered**`,
          ...[restMb.toFixed(1), more(peakMb), more(afterMb)],
          limited.isRegistered ? "registered" : "**not registered**",
          `${runs.reduce((sum, { failedProbes }) => sum + failedProbes, 0)}`,
        ]);
        say(rows.at(-1)?.join(" | ") ?? "");
      }
    }
    return grid([...HEAD, `within ${LIMIT_MB}Mi, started cold`, "failed probes"], rows);
  },
};
