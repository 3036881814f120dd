import { parseDurationMs } from "../../../src/flags/values";
import { type KubeletEvent, type SimulatedVersion, startKubelet as simulate } from "../../../src/testing";
import { type ApiObjects, startKubelet } from "../support/kubelet";
import { kubeletStep, type Step } from "./step";

interface Play {
  readonly pluginDir: string;
  readonly onStep: (step: Step) => void;
  /** Is told the API objects at the start and after each change. */
  readonly onObjects: (objects: ApiObjects) => void;
}

export type TestedKubelet = ReturnType<typeof realKubelet>;
export type RunningKubelet = Awaited<ReturnType<TestedKubelet["start"]>>;

/** Kubelet's own code at one release, such as `1.28.15`. */
export function realKubelet(version: string) {
  return {
    name: `kubelet ${version}`,
    /** Resolves when it watches the plugin registration directory. */
    start: async ({ pluginDir, onStep, onObjects }: Play) => {
      async function start(objects?: ApiObjects) {
        // On more processors its reconciler may log that it started something when that is long over.
        const options = { version, pluginDir, processors: 1, ...(objects && { objects }) };
        const started = await startKubelet(options);
        started.events.follow(() => onObjects(started.objects()));
        started.log.follow((line) => {
          const step = stepOfLogLine(line);
          if (step) onStep(step);
        });
        // Its first look is over: what comes from now on cannot be seen twice, by the look and by the watch.
        await started.log.waitFor((line) => line.includes("Starting Kubelet Plugin Manager"));
        return started;
      }
      let kubelet = await start();
      return {
        /** The answer when a driver is next to be validated, or to be registered. */
        refuse: ({ stage, text }: { stage: "validate" | "register"; text: string }) =>
          kubelet.command({ command: "refuse", stage, text }),
        /** Kills it and starts it anew with the same API objects; `whileDown` runs in between. */
        restart: async (whileDown: () => Promise<void>) => {
          await kubelet.kill();
          await whileDown();
          kubelet = await start(kubelet.objects());
        },
        /** Resolves when all that it did is told. */
        kill: () => kubelet.kill(),
      };
    },
  };
}

function stepOfLogLine(line: string): Step | undefined {
  const { hours, minutes, seconds, text = "" } = KLOG.exec(line)?.groups ?? {};
  const atMs = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;

  const [, change, watchedPath = ""] = WATCHED.exec(text) ?? [];
  if (change === "Adding") return kubeletStep.sees(watchedPath);
  if (change === "Removing") return kubeletStep.misses(watchedPath);

  const [, started, startedPath = ""] = STARTED.exec(text) ?? [];
  if (started === "Register") return kubeletStep.starts(startedPath, "register", atMs);
  if (started === "Unregister") return kubeletStep.starts(startedPath, "deregister", atMs);

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

export function simulatedKubelet(version: SimulatedVersion): TestedKubelet {
  return {
    name: `simulated kubelet ${version}`,
    start: async ({ pluginDir, onStep, onObjects }) => {
      const kubelet = await simulate({
        version,
        pluginRegistrationPath: pluginDir,
        nodeName: "node-1",
        nodeLabels: {},
        waitTimeoutMs: 10 * 60_000,
      });
      const take = (event: KubeletEvent) => {
        const step = stepOfEvent(event);
        if (step) onStep(step);
        onObjects({ node: kubelet.node(), csiNode: kubelet.csiNode() });
      };
      kubelet.events.history().forEach(take);
      kubelet.events.subscribe(take);
      return {
        refuse: async ({ stage, text: reason }) => {
          const simulatedStage = stage === "validate" ? "validation" : "registration";
          kubelet.setFaults([{ kind: "refuse", stage: simulatedStage, error: reason, times: 1 }]);
        },
        restart: (whileDown) => kubelet.restart({ whileDown }),
        kill: kubelet.close,
      };
    },
  };
}

function stepOfEvent(event: KubeletEvent): Step | undefined {
  switch (event.kind) {
    case "socket-seen":
      return kubeletStep.sees(event.socketPath);
    case "socket-gone":
      return kubeletStep.misses(event.socketPath);
    case "operation-started":
      return kubeletStep.starts(event.socketPath, event.operation, event.atMs);
    case "failed":
      return kubeletStep.fails(event.socketPath, event.error, event.backoffMs, event.atMs);
    default:
      return undefined;
  }
}
