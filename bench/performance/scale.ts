import { allRegistered } from "../../test/kubelet/support/crowd";
import { startKubelet } from "../../test/kubelet/support/kubelet";
import type { Bench, Row } from "../bench";
import { startCrowd } from "../support/crowd";
import { start } from "../support/processes";

const MANY = 200;

/** 200 drivers in one process, with kubelet's real code. */
export async function scale({ cached, kubelet: version }: Bench): Promise<readonly Row[]> {
  await using crowd = await startCrowd(MANY);
  const pluginDir = crowd.pluginDir("reg");
  await using kubelet = await startKubelet({ version, pluginDir });
  const seconds = async (from: number, which: typeof kubelet) => {
    await allRegistered(which, crowd.names);
    return `${((performance.now() - from) / 1_000).toFixed(1)} s`;
  };
  const startedAt = performance.now();
  await using _registrar = start(cached.command(crowd.everybody(pluginDir)));
  const first = await seconds(startedAt, kubelet);
  const restartedAt = performance.now();
  await using restarted = await kubelet.restart();
  return [
    [`${MANY} drivers registered after the start`, first, ""],
    [`${MANY} drivers registered again after kubelet restarted`, await seconds(restartedAt, restarted), ""],
  ];
}
