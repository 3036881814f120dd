import type { ApiObjects } from "../support/kubelet";
import type { Scenario } from "./scripted-node";
import type { Step } from "./step";

/** Kubelet's code or the simulator: what is compared. */
export interface TestedKubelet {
  readonly name: string;
  /** Resolves when it watches the plugin registration directory. */
  readonly start: (options: TestedKubeletOptions) => Promise<RunningKubelet>;
}

export interface TestedKubeletOptions {
  readonly pluginDir: string;
  /** Which call is to be given up after kubelet's own time. */
  readonly hangs: Scenario["hangs"];
  readonly volumeLimitPeriodsMs: NonNullable<Scenario["volumeLimitPeriodsMs"]>;
  readonly onStep: (step: Step) => void;
  /** Is told the API objects at the start and after each change. */
  readonly onObjects: (objects: ApiObjects) => void;
}

export interface RunningKubelet {
  /** The answer when a driver is next to be validated, or to be registered. */
  readonly refuse: (refusal: {
    readonly stage: "validate" | "register";
    readonly text: string;
  }) => Promise<void>;
  /** Kills it and starts it anew with the same API objects; `whileDown` runs in between. */
  readonly restart: (whileDown: () => Promise<void>) => Promise<void>;
  /** Kills it; resolves when all that it did is told. */
  readonly kill: () => Promise<void>;
}
