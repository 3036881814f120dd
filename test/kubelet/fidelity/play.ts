import { mkdir } from "node:fs/promises";
import { createHistory } from "../../support/history";
import { createTempFolder } from "../../support/temp-folder";
import type { ApiObjects } from "../support/kubelet";
import { comparable } from "./comparable";
import { changes, summaryOf } from "./objects";
import type { Scenario } from "./scenario";
import { createScriptedNode } from "./scripted-node";
import type { Step } from "./step";
import { storyOf } from "./story";
import type { TestedKubelet } from "./tested-kubelet";

/** Plays a scenario with a kubelet: what happened, and what the API objects are in the end. */
export async function play({ name, script }: Scenario, tested: TestedKubelet) {
  await using folder = await createTempFolder();
  const steps = createHistory<Step>(`${tested.name}, which ${name}`);
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
  return { ...summaryOf(objects), story: storyOf(steps.all()) };
}
