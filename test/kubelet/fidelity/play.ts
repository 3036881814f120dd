import { mkdir } from "node:fs/promises";
import { createHistory, type History } from "../../support/history";
import { createTempFolder } from "../../support/temp-folder";
import type { ApiObjects } from "../support/kubelet";
import type { TestedKubelet } from "./kubelets";
import { changes, summaryOf } from "./objects";
import { createScriptedNode, type Scenario } from "./scripted-node";
import { comparable, type Step, storyOf } from "./step";

/** So often a machine may stall in one scenario. */
const MOST_PLAYS = 5;
const GAVE_UP = /(?:RPC GetInfo|failed to send) .*\b(?:DeadlineExceeded|context deadline exceeded)/;

/**
 * Plays a scenario with a kubelet: what happened, and what the API objects are in the end. Kubelet gives GetInfo one
 * second and the status five, by the real clock; where a machine with other work stalls us for longer it gives up a registrar
 * that would have answered. That is no play of this script, whatever came of it, and it is played again.
 */
export async function play(scenario: Scenario, tested: TestedKubelet) {
  for (let plays = 1; ; plays++) {
    const steps = createHistory<Step>(`${tested.name}, which ${scenario.name}`);
    const playing = playOnce(scenario, tested, steps);
    await playing.catch(() => {});
    const givenUp = steps.all().filter(({ what }) => GAVE_UP.test(what)).length;
    if (givenUp <= (scenario.hangs ? 1 : 0)) return playing;
    if (plays === MOST_PLAYS)
      throw new Error(`${tested.name} gave up a call that was being answered, in ${plays} plays of ${plays}`);
  }
}

async function playOnce({ script, isRandom = false }: Scenario, tested: TestedKubelet, steps: History<Step>) {
  await using folder = await createTempFolder();
  const onStep = (step: Step) => steps.add(comparable(step, folder.path));
  let objects: ApiObjects | undefined;
  const onObjects = (now: ApiObjects) => {
    if (objects) changes(objects, now).forEach(onStep);
    objects = now;
  };

  const pluginDir = folder.at("reg");
  await mkdir(pluginDir);
  const kubelet = await tested.start({ pluginDir, onStep, onObjects });
  await using node = createScriptedNode({ folder: folder.path, pluginDir, kubelet, steps, onStep });
  try {
    await script(node);
  } finally {
    await kubelet.kill();
  }
  if (objects === undefined) throw new Error(`${tested.name} has told nothing of its API objects`);
  return { ...summaryOf(objects), story: storyOf(steps.all(), { isRandom }) };
}
