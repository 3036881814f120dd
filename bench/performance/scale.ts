import { allRegistered } from "../../test/kubelet/support/crowd";
import { startKubelet } from "../../test/kubelet/support/kubelet";
import { type Bench, keeping, type Row } from "../bench";
import { startCrowd } from "../support/crowd";
import { start } from "../support/processes";

const MANY = 200;

/** 200 drivers in one process, with kubelet's real code. */
export function scale({ cached, kubelet: version }: Bench): Promise<readonly Row[]> {
  return keeping(async (keep) => {
    const crowd = keep(await startCrowd(MANY));
    const pluginDir = crowd.pluginDir("reg");
    const kubelet = keep(await startKubelet({ version, pluginDir }));
    const seconds = async (begin: () => Promise<Parameters<typeof allRegistered>[0]>) => {
      const startedAt = performance.now();
      await allRegistered(await begin(), crowd.names);
      return `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
    };
    const first = await seconds(async () => {
      keep(start(cached.command(crowd.everybody(pluginDir))));
      return kubelet;
    });
    const again = await seconds(async () => keep(await kubelet.restart()));
    return [
      [`${MANY} drivers registered after the start`, first, ""],
      [`${MANY} drivers registered again after kubelet restarted`, again, ""],
    ];
  });
}
