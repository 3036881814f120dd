import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { leaveDeadSocket } from "../../test/support/foreign-socket";
import type { Container } from "./container";
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

/** Of two registrars of one driver one gets SIGTERM; the restarts are those of the one that stays. */
const oneGoes = (title: string, goes: "old" | "young", isOldOfficial = false): Play => ({
  title,
  variants: PHASES,
  needsOfficial: isOldOfficial,
  run: async (stage, phase) => {
    const pods = await startTwoPods(stage, isOldOfficial ? stage.official : stage.contestant);
    await seconds(phase);
    const [outcome] = await Promise.all([recovery(pods.kubelet), pods[goes].delete()]);
    return { ...outcome, restarts: pods[goes === "old" ? "young" : "old"].restarts };
  },
});

/** Something happens to a registered driver's registrar. */
const fault = (title: string, happen: (stage: Stage, registrar: Container) => unknown): Play => ({
  title,
  variants: PHASES,
  run: async (stage, phase) => {
    const { kubelet, registrar } = await startPod(stage);
    await seconds(phase);
    await happen(stage, registrar);
    return { ...(await recovery(kubelet)), restarts: registrar.restarts };
  },
});

/** Kubelet is killed, and another one takes its place. */
const kubeletFault = (title: string, meanwhile: (stage: Stage) => Promise<void>): Play => ({
  title,
  variants: PHASES,
  run: async (stage, phase) => {
    const { kubelet: former, registrar } = await startPod(stage);
    await seconds(phase);
    await former.kill();
    await meanwhile(stage);
    const kubelet = await stage.restarted(former);
    return { ...(await recovery(kubelet)), restarts: registrar.restarts };
  },
});

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
  oneGoes("two registrars of one driver, the older one gets SIGTERM", "old"),
  oneGoes("two registrars of one driver, the newer one gets SIGTERM", "young"),
  oneGoes("an older official one beside it gets SIGTERM and removes its socket", "old", true),
  fault("the socket is removed", ({ paths }) => rm(paths.registrationSocketPath)),
  kubeletFault(
    "the plugin registration directory is removed, a restarted kubelet creates it again",
    (stage) => stage.removePluginDirectory(),
  ),
  kubeletFault("kubelet is killed and restarts", async () => {}),
  fault("the registrar is killed (out of memory) and restarted", (_, registrar) => registrar.kill()),
  slowDriver,
  refused(", with --on-registration-failure=retry", RETRY),
  refused(", by default", []),
  ...[20, 40, 60, 80, 105, 150].map(reboot),
];
