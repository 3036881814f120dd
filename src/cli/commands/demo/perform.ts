import { writeFileSync } from "node:fs";
import { messageOf, RegistrarError } from "../../../errors";
import { kubeletTells } from "./happenings";
import { createPlay } from "./play";
import { MissedStep, type Play, type Scenario } from "./scenario";
import { registration } from "./scenarios/registration";
import { sequenceOf } from "./sequence";
import { openStage, type StageOptions } from "./stage";
import type { Storyteller } from "./storyteller";
import { renderSvg } from "./svg";

export interface PerformanceOptions extends StageOptions {
  readonly teller: Storyteller;
  /** Where to save a picture of what happened. */
  readonly svg?: string | undefined;
  /** Ends the play when aborted. */
  readonly signal: AbortSignal;
}

/** How the play ended. */
export type Ending =
  | { readonly kind: "told"; readonly tookMs: number }
  /** Why was said. */
  | { readonly kind: "missed" }
  | { readonly kind: "interrupted" };

/** Plays scenarios one after the other on one stage. However it ends, no process and, unless kept, no file is left. */
export async function perform(
  scenarios: readonly Scenario[],
  { teller, svg, signal, ...options }: PerformanceOptions,
): Promise<Ending> {
  // Before anything is played: a path that cannot be written is a mistake to be told at once.
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
      const play = createPlay({ stage, teller, startedAt, signal });
      if (index === 0 && scenario !== registration) await setTheScene(play);
      await scenario.play(play);
    }
    return { kind: "told", tookMs: Date.now() - startedAt };
  } catch (error) {
    if (signal.aborted) return { kind: "interrupted" };
    if (!(error instanceof MissedStep)) throw error;
    teller.complain(error.message);
    return { kind: "missed" };
  } finally {
    timeline.add({ kind: "deed", text: "The demo is over, every process is ended.", atMs: Date.now() });
    await stage.clear();
    if (options.keep) teller.say(`\nKept: ${stage.folder}; its .log files have what each process said.`);
    if (svg !== undefined) save(svg, renderSvg(sequenceOf(timeline.all(), startedAt)));
  }
}

/** Where a scenario that needs a registered driver is the first. */
async function setTheScene({ deed, start, expect }: Play): Promise<void> {
  await deed("A kubelet, a CSI driver and a registrar are started; the driver gets registered.", () => {
    start("kubelet");
    start("driver");
    start("registrar");
  });
  await expect("the driver to be registered", kubeletTells("registered"));
}

function save(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (cause) {
    throw new RegistrarError("INVALID_OPTION", `cannot write the picture: ${messageOf(cause)}`, { cause });
  }
}
