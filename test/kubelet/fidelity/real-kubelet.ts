import { parseDurationMs } from "../../../src/flags/values";
import { type ApiObjects, startKubelet } from "../support/kubelet";
import { kubeletStep, type Step } from "./step";
import type { TestedKubelet } from "./tested-kubelet";

/** Kubelet's own code at one release, such as `1.28.15`. */
export function realKubelet(version: string): TestedKubelet {
  return {
    name: `kubelet ${version}`,
    start: async ({ pluginDir, volumeLimitPeriodsMs, onStep, onObjects }) => {
      async function start(objects?: ApiObjects) {
        // On more processors its reconciler may log that it started something when that is long over.
        const started = await startKubelet({
          version,
          pluginDir,
          processors: 1,
          ...(objects && { objects }),
        });
        started.events.follow(() => onObjects(started.objects()));
        started.log.follow((line) => {
          const step = stepOfLogLine(line);
          if (step) onStep(step);
        });
        // Its first look is over: what comes from now on cannot be seen twice, by the look and by the watch.
        await started.log.waitFor((line) => line.includes("Starting Kubelet Plugin Manager"));
        for (const [driver, periodMs] of Object.entries(volumeLimitPeriodsMs))
          await started.command({ command: "period", driver, seconds: periodMs / 1000 });
        return started;
      }
      let kubelet = await start();
      return {
        refuse: ({ stage, text }) => kubelet.command({ command: "refuse", stage, text }),
        restart: async (whileDown) => {
          await kubelet.kill();
          await whileDown();
          kubelet = await start(kubelet.objects());
        },
        kill: () => kubelet.kill(),
      };
    },
  };
}

/** What a line of kubelet's log tells of a registration socket, if anything. */
export function stepOfLogLine(line: string): Step | undefined {
  const { hours, minutes, seconds, text = "" } = KLOG.exec(line)?.groups ?? {};
  const atMs = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;

  const [, change, watchedPath = ""] = WATCHED.exec(text) ?? [];
  if (change === "Adding") return kubeletStep.sees(watchedPath);
  if (change === "Removing") return kubeletStep.misses(watchedPath);

  const [, started, startedPath = ""] = STARTED.exec(text) ?? [];
  if (started === "Register") return kubeletStep.starts(startedPath, "register", atMs);
  if (started === "Unregister") return kubeletStep.starts(startedPath, "unregister", atMs);

  const [, failedPath, wait = "", error = ""] = FAILED.exec(text) ?? [];
  if (failedPath === undefined) return undefined;
  // Kubelet 1.20 puts the error in quotes.
  return kubeletStep.fails(
    failedPath,
    error.startsWith('"') ? JSON.parse(error) : error,
    parseDurationMs(wait),
    atMs,
  );
}

const KLOG = /^[IWE]\d{4} (?<hours>\d\d):(?<minutes>\d\d):(?<seconds>[\d.]+) +\d+ [^\]]+\] (?<text>.*)$/;
/** Messages changed their form over the releases; in each the socket is the first path. */
const WATCHED = /^"?(Adding|Removing) socket path\b.*?(\/[^ "]+)/;
const STARTED = /^"?[Oo]perationExecutor\.(Register|Unregister)Plugin started\b.*?(\/[^ "]+)/;
const FAILED = /^Operation for "([^"]*)" failed\..*?\(durationBeforeRetry ([^)]*)\)\. Error: (.*)$/;
