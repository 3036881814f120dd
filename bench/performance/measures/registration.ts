import { rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { startCsiDriver } from "../../../src/testing";
import { type Kubelet, startKubelet } from "../../../test/kubelet/support/kubelet";
import { type Contestant, present } from "../contestants";
import { createKeeper } from "../keeper";
import { type Measure, skipped } from "../measure";
import { createPlace, DRIVER } from "../place";
import { start } from "../processes";
import { interleave, spread } from "../samples";

/** A registrar that has not healed by then does not. */
const LIMIT_MS = 20_000;

/** What a user waits for, with kubelet's real code: its loop runs each second, so half of one is no registrar's doing. */
export const registrationMeasure: Measure = {
  name: "registration",
  run: async ({ contestants, kubelet: version, rounds, say }) => {
    if (version === undefined) return skipped("registration: no kubelet");
    const { registrar, naive, official } = contestants;
    const everybody = present(registrar, naive, official);
    const rows: (readonly string[])[] = [];
    const measure = async (title: string, of: readonly Contestant[], play: Play) => {
      say(title);
      /** Who did not come to it once is not waited for again. */
      const givenUp = new Set<Contestant>();
      const samples = await interleave(of, rounds(6), async (contestant) => {
        if (givenUp.has(contestant)) return undefined;
        const ms = await onStage(contestant, version, play);
        if (ms === undefined) givenUp.add(contestant);
        return ms;
      });
      rows.push([title, ...everybody.map((contestant) => cell(samples.get(contestant)))]);
    };
    await measure("driver listening to registered", everybody, arrival);
    await measure("socket removed to registered again", everybody, removal);
    await measure("refused once to registered again", [registrar], refusal);
    return {
      tables: [
        {
          title: `with kubelet ${version}, registrar waiting`,
          head: ["ms", ...everybody.map(({ name }) => name)],
          rows,
          note: "Refused: with `--on-registration-failure=retry`; the others end, and their container is restarted.",
        },
      ],
      verdicts: [],
    };
  },
};

interface Stage {
  readonly kubelet: Kubelet;
  readonly socketPath: string;
  /** Starts the driver; resolves when it listens. */
  readonly startDriver: () => Promise<void>;
}
/** Resolves with milliseconds; undefined where nothing came of it. */
type Play = (stage: Stage) => Promise<number | undefined>;

const arrival: Play = async ({ kubelet, startDriver }) => {
  await startDriver();
  return untilAnswered(kubelet, (error) => error === null);
};

const removal: Play = async (stage) => {
  if ((await arrival(stage)) === undefined) return undefined;
  await delay(1_500);
  rmSync(stage.socketPath);
  return untilAnswered(stage.kubelet, (error) => error === null);
};

const refusal: Play = async ({ kubelet, startDriver }) => {
  await kubelet.command({ command: "refuse", text: "not now" });
  await startDriver();
  await untilAnswered(kubelet, (error) => error !== null);
  return untilAnswered(kubelet, (error) => error === null);
};

async function onStage({ command }: Contestant, version: string, play: Play): Promise<number | undefined> {
  await using place = await createPlace();
  await using kubelet = await startKubelet({ version, pluginDir: place.pluginDir });
  await using _registrar = start(command(place, play === refusal ? ["--on-registration-failure=retry"] : []));
  await delay(1_000 + Math.random() * 1_000);
  await using drivers = createKeeper();
  const { csiAddress, socketPath } = place;
  const startDriver = async () => void drivers.keep(await startCsiDriver({ csiAddress, name: DRIVER }));
  return await play({ kubelet, socketPath, startDriver });
}

/** The time from now until kubelet's handler next answered a registration so. */
async function untilAnswered(
  { events }: Kubelet,
  fits: (error: string | null) => boolean,
): Promise<number | undefined> {
  const from = events.all().length;
  const startedAt = performance.now();
  const answer = events.waitFor((event) => event.event === "register" && fits(event.error), from);
  const isThere = await Promise.race([answer.then(() => true), delay(LIMIT_MS, false, { ref: false })]);
  answer.catch(() => {});
  return isThere ? performance.now() - startedAt : undefined;
}

function cell(samples: readonly (number | undefined)[] | undefined): string {
  if (samples === undefined) return "";
  const times = samples.filter((sample) => sample !== undefined);
  return times.length > 0 ? spread(times) : `not in ${LIMIT_MS / 1_000} s`;
}
