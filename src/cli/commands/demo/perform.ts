import { writeFileSync } from "node:fs";
import { invalidOption, messageOf } from "../../../base/errors";
import { kubeletHasTold } from "./happenings";
import { renderSvg, sequenceOf } from "./picture";
import { createPlay } from "./play";
import { registration, type Scenario } from "./scenarios";
import { type DemoOptions, MissedStep, openStage } from "./stage";

/** For a scenario that needs a registered driver and is played first. */
const SETTING =
  "The demo starts a kubelet, a CSI driver and a registrar, and waits until the driver is registered.";

/** Plays scenarios on one stage; `missed` if a step did not happen. It leaves no process and, unless kept, no file. */
export async function perform(scenarios: readonly Scenario[], options: DemoOptions) {
  const { teller, svg, signal, keep } = options;
  // Checked before anything is played, so that a path that cannot be written fails at once.
  if (svg !== undefined) save(svg, "");
  const startedAt = Date.now();
  const stage = openStage(options);
  const { timeline } = stage;
  teller.say(
    `The registrar, a simulated CSI driver and a simulated kubelet, on real sockets in ${stage.folder}`,
  );
  try {
    for (const [index, scenario] of scenarios.entries()) {
      const { title, about } = scenario;
      teller.heading(scenarios.length > 1 ? `${index + 1}. ${title}` : title, about);
      timeline.add({ kind: "chapter", title, atMs: Date.now() });
      const play = createPlay(stage, startedAt, options);
      if (index === 0 && scenario !== registration) {
        await play.deed(SETTING, () => play.start("kubelet", "driver", "registrar"));
        await play.expect("the driver to be registered", kubeletHasTold);
      }
      await scenario.play(play);
    }
    return { ending: "told", tookMs: Date.now() - startedAt } as const;
  } catch (error) {
    if (signal.aborted) return { ending: "interrupted" } as const;
    if (!(error instanceof MissedStep)) throw error;
    teller.complain(error.message);
    return { ending: "missed" } as const;
  } finally {
    timeline.add({ kind: "deed", text: "The demo is over and stops every process.", atMs: Date.now() });
    await stage.clear();
    if (keep) teller.say(`\nKept: ${stage.folder}; its .log files have the output of each process.`);
    if (svg !== undefined) save(svg, renderSvg(sequenceOf(timeline.all(), startedAt)));
  }
}

function save(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (cause) {
    throw invalidOption(`cannot write the picture: ${messageOf(cause)}`, { cause });
  }
}
