import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { leaveDeadSocket } from "../../test/support/foreign-socket";
import { type Outcome, recovery, registered, type Stage } from "./stage";

/** One failure, and what is measured of it. */
export interface Play {
  /** For the table. */
  readonly title: string;
  /** One repetition for each: a wait in seconds. */
  readonly variants: readonly number[];
  /** Each kubelet gets a row of its own: here they behave differently. */
  readonly byKubelet?: boolean;
  /** It is about the official registrar. */
  readonly needsOfficial?: boolean;
  run(stage: Stage, variant: number): Promise<Outcome>;
}

/** Waits before a failure, so that it falls anywhere in kubelet's loop of one second. */
const PHASES = [0.1, 0.3, 0.5, 0.7, 0.9];
const RETRY = ["--on-registration-failure=retry"];
const seconds = (count: number) => delay(count * 1_000);

/** Both pods of a rolling update that overlaps, or of two DaemonSets by mistake: the young one has taken the socket. */
async function startTwoPods(stage: Stage, oldOne = stage.contestant) {
  const [kubelet] = await Promise.all([stage.kubelet(), stage.driver()]);
  const old = await stage.registrar({ who: oldOne });
  await registered(kubelet);
  const young = await stage.registrar();
  await young.says("NotifyRegistrationStatus");
  await registered(kubelet);
  return { kubelet, old, young };
}

/** kubelet, driver and registrar, all well. */
async function startPod(stage: Stage) {
  const [kubelet] = await Promise.all([stage.kubelet(), stage.driver()]);
  const registrar = await stage.registrar();
  await registered(kubelet);
  return { kubelet, registrar };
}

const plainStart: Play = {
  title: "nothing fails: driver and registrar start, kubelet runs",
  variants: PHASES,
  run: async (stage, phase) => {
    const [kubelet] = await Promise.all([stage.kubelet(), stage.driver()]);
    await seconds(phase);
    const registrar = await stage.registrar();
    return { ...(await recovery(kubelet)), restarts: registrar.restarts };
  },
};

const oldOneGoes: Play = {
  title: "two registrars of one driver, the older one gets SIGTERM",
  variants: PHASES,
  run: async (stage, phase) => {
    const { kubelet, old, young } = await startTwoPods(stage);
    await seconds(phase);
    const [outcome] = await Promise.all([recovery(kubelet), old.delete()]);
    return { ...outcome, restarts: young.restarts };
  },
};

const youngOneGoes: Play = {
  title: "two registrars of one driver, the newer one gets SIGTERM",
  variants: PHASES,
  run: async (stage, phase) => {
    const { kubelet, old, young } = await startTwoPods(stage);
    await seconds(phase);
    const [outcome] = await Promise.all([recovery(kubelet), young.delete()]);
    return { ...outcome, restarts: old.restarts };
  },
};

const officialGoes: Play = {
  title: "an older official one beside it gets SIGTERM and removes its socket",
  variants: PHASES,
  needsOfficial: true,
  run: async (stage, phase) => {
    const { kubelet, old, young } = await startTwoPods(stage, stage.official);
    await seconds(phase);
    const [outcome] = await Promise.all([recovery(kubelet), old.delete()]);
    return { ...outcome, restarts: young.restarts };
  },
};

const socketRemoved: Play = {
  title: "the socket is removed",
  variants: PHASES,
  run: async (stage, phase) => {
    const { kubelet, registrar } = await startPod(stage);
    await seconds(phase);
    await rm(stage.paths.registrationSocketPath);
    return { ...(await recovery(kubelet)), restarts: registrar.restarts };
  },
};

const directoryRemoved: Play = {
  title: "the plugin registration directory is removed, a restarted kubelet creates it again",
  variants: PHASES,
  run: async (stage, phase) => {
    const { kubelet: former, registrar } = await startPod(stage);
    await seconds(phase);
    await former.kill();
    await stage.removePluginDirectory();
    const kubelet = await stage.restarted(former);
    return { ...(await recovery(kubelet)), restarts: registrar.restarts };
  },
};

const kubeletRestarts: Play = {
  title: "kubelet is killed and restarts",
  variants: PHASES,
  run: async (stage, phase) => {
    const { kubelet: former, registrar } = await startPod(stage);
    await seconds(phase);
    const kubelet = await stage.restarted(former);
    return { ...(await recovery(kubelet)), restarts: registrar.restarts };
  },
};

const registrarKilled: Play = {
  title: "the registrar is killed (out of memory) and restarted",
  variants: PHASES,
  run: async (stage, phase) => {
    const { kubelet, registrar } = await startPod(stage);
    await seconds(phase);
    registrar.kill();
    return { ...(await recovery(kubelet)), restarts: registrar.restarts };
  },
};

const slowDriver: Play = {
  title: "the driver listens 65 to 105 s after the registrar's start; from then on",
  variants: [65, 75, 85, 95, 105],
  run: async (stage, wait) => {
    const kubelet = await stage.kubelet();
    const registrar = await stage.registrar();
    await seconds(wait);
    await stage.driver();
    return { ...(await recovery(kubelet, 330_000)), restarts: registrar.restarts };
  },
};

const refused = (title: string, ourFlags: readonly string[]): Play => ({
  title: `kubelet refuses for 15 to 95 s, then accepts${title}; from then on`,
  variants: [15, 35, 55, 75, 95],
  byKubelet: true,
  run: async (stage, wait) => {
    const [kubelet] = await Promise.all([stage.kubelet(), stage.driver()]);
    await kubelet.command({ command: "refuse", text: "error updating CSINode: timed out", times: 1_000 });
    const registrar = await stage.registrar({ ourFlags });
    await seconds(wait);
    await kubelet.command({ command: "accept" });
    return { ...(await recovery(kubelet, 330_000)), restarts: registrar.restarts };
  },
});

const reboot = (wait: number): Play => ({
  title: `reboot, a dead socket is left; driver and registrar start ${wait} s after kubelet`,
  variants: [wait, wait + 1, wait + 2],
  run: async (stage, start) => {
    await leaveDeadSocket(stage.paths.registrationSocketPath);
    const kubelet = await stage.kubelet();
    await seconds(start);
    await stage.driver();
    const registrar = await stage.registrar();
    return { ...(await recovery(kubelet, 150_000)), restarts: registrar.restarts };
  },
});

/** Every play, in the order of the table. */
export const PLAYS: readonly Play[] = [
  plainStart,
  oldOneGoes,
  youngOneGoes,
  officialGoes,
  socketRemoved,
  directoryRemoved,
  kubeletRestarts,
  registrarKilled,
  slowDriver,
  refused(", with --on-registration-failure=retry", RETRY),
  refused(", by default", []),
  ...[20, 40, 60, 80, 105, 150].map(reboot),
];
